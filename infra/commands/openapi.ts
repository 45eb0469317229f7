import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openapiDocument } from '../openapi/document.ts';
import { stringify } from '../openapi/stringify.ts';
import { typesOf } from '../openapi/types.ts';
import { projectDirectory } from '../project-directory.ts';

const document = stringify(openapiDocument());
await writeFile(join(projectDirectory, 'lib', 'contract', 'openapi.json'), document);
await writeFile(join(projectDirectory, 'lib', 'client', 'contract.ts'), await typesOf(document));
