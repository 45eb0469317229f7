import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openapiDocument } from '../openapi/document.ts';
import { stringify } from '../openapi/stringify.ts';
import { projectDirectory } from '../project-directory.ts';

await writeFile(
  join(projectDirectory, 'lib', 'contract', 'openapi.json'),
  stringify(openapiDocument()),
);
