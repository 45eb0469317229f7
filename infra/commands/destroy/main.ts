import { runProgram } from '../run-program.ts';
import { askInTerminal } from '../terminal.ts';
import { destroyProgram } from './program.ts';

await runProgram(destroyProgram(askInTerminal));
