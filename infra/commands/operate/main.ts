import { askInTerminal, fail } from '../terminal.ts';
import { operateProgram } from './program.ts';

await operateProgram(askInTerminal).parseAsync().catch(fail);
