import { askInTerminal, fail } from '../terminal.ts';
import { keysProgram } from './program.ts';

await keysProgram(askInTerminal).parseAsync().catch(fail);
