/*
 * Loaded before a function that runs in a debugger. V8 pauses before it runs a script, so that a debugger can
 * set its breakpoints. Node.js compiles a CommonJS module to a function, for which V8 does not pause, unless
 * its wrapper is replaced: `wrapSafe` in lib/internal/modules/cjs/loader.js.
 */
const Module = require('node:module');
const { wrap } = Module;
Module.wrap = (source) => wrap(source);
