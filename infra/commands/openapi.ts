import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { program } from 'commander';
import { openapiText } from '../../lib/openapi/document.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { limitsText } from '../settings/limits-text.ts';
import { runProgram } from './shared/run-program.ts';

program
  .name('npm run openapi')
  .description('Writes lib/contract/openapi.json.')
  .action(() =>
    writeFile(join(projectDirectory, 'lib/contract/openapi.json'), openapiText(limitsText())),
  );
await runProgram(program);
