import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

/** Initialises a function as Lambda does, and sends V8's cache of what it has compiled by then. */
const { script } = await import(pathToFileURL(workerData));
parentPort.postMessage(script.createCachedData());
