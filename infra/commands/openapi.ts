import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { program } from 'commander';
import { openapiDocument } from '../openapi/document.ts';
import { stringify } from '../openapi/stringify.ts';
import { projectDirectory } from '../project-directory.ts';

program.name('npm run openapi').description('Writes lib/contract/openapi.json.').parse();

const file = join(projectDirectory, 'lib', 'contract', 'openapi.json');
await writeFile(file, stringify(openapiDocument()));
