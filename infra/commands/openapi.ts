import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { program } from 'commander';
import { openapiText } from '../../lib/openapi/document.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { operationDetails } from '../settings/operations.ts';
import { limitsGuide, limitsText } from './limits-text.ts';

program
  .name('npm run openapi')
  .description('Writes lib/contract/openapi.json and lib/openapi/guides/limits.md.')
  .parse();

const lib = join(projectDirectory, 'lib');
await writeFile(join(lib, 'contract/openapi.json'), openapiText(operationDetails, limitsText()));
await writeFile(join(lib, 'openapi/guides/limits.md'), limitsGuide());
