import { runProgram } from '../run-program.ts';
import { askInTerminal } from '../terminal.ts';
import { operateProgram } from './program.ts';

await runProgram(operateProgram(askInTerminal));
