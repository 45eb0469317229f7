import { runProgram } from '../run-program.ts';
import { askInTerminal } from '../terminal.ts';
import { copyBackProgram } from './program.ts';

await runProgram(copyBackProgram(askInTerminal));
