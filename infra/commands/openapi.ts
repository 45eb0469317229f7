import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { program } from 'commander';
import { openapiText } from '../../lib/openapi/document.ts';
import { operationDetails } from '../operations.ts';
import { projectDirectory } from '../project-directory.ts';

program.name('npm run openapi').description('Writes lib/contract/openapi.json.').parse();

await writeFile(
  join(projectDirectory, 'lib', 'contract', 'openapi.json'),
  openapiText(operationDetails),
);
