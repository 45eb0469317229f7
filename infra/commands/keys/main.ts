import { runProgram } from '../run-program.ts';
import { askInTerminal } from '../terminal.ts';
import { keysProgram } from './program.ts';

await runProgram(keysProgram(askInTerminal));
