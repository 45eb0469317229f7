import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openapiDocument } from './openapi/document.ts';
import { stringify } from './openapi/stringify.ts';
import { typesOf } from './openapi/types.ts';

const projectDirectory = join(import.meta.dirname, '..');
const document = stringify(openapiDocument());
await writeFile(join(projectDirectory, 'openapi.json'), document);
await writeFile(join(projectDirectory, 'lib', 'client', 'contract.ts'), await typesOf(document));
