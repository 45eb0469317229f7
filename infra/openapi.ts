import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openapiDocument } from './openapi/document.ts';
import { stringify } from './openapi/stringify.ts';

const path = join(import.meta.dirname, '..', 'openapi.json');
await writeFile(path, stringify(openapiDocument()));
