import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openapiText } from '../openapi/document.ts';
import { projectDirectory } from '../project-directory.ts';

await writeFile(join(projectDirectory, 'lib', 'contract', 'openapi.json'), openapiText());
