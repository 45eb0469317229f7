import { askInTerminal } from '../confirm.ts';
import { fail } from '../message-of.ts';
import { operateProgram } from './program.ts';

await operateProgram(askInTerminal).parseAsync().catch(fail);
