import { projectDirectory } from '../../build/project-directory.ts';
import { stages } from '../../settings/stages.ts';
import { runProgram } from '../run-program.ts';
import { askInTerminal } from '../terminal.ts';
import { cdk } from './cdk.ts';
import { deployProgram } from './program.ts';

const directory = projectDirectory;
const isOnTerminal = process.stdout.isTTY === true;
await runProgram(deployProgram({ stages, directory, cdk, ask: askInTerminal, isOnTerminal }));
