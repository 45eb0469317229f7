import { askInTerminal } from '../confirm.ts';
import { fail } from '../message-of.ts';
import { keysProgram } from './program.ts';

await keysProgram(askInTerminal).parseAsync().catch(fail);
