import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectDirectory } from '../project-directory.ts';

interface Manifest {
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The licences of an installed package and of all that it depends on, which must be distributed with its bundle. */
export const licencesOf = async (name: string): Promise<string> => {
  const texts = new Map<string, string>();
  const visit = async (dependency: string, directory: string) => {
    const found = installed(dependency, directory);
    if (!found || texts.has(found)) return;
    texts.set(found, '');
    const manifest: Manifest = JSON.parse(await readFile(join(found, 'package.json'), 'utf8'));
    texts.set(found, await licence(dependency, manifest, found));
    for (const next of Object.keys(manifest.dependencies ?? {})) await visit(next, found);
  };
  await visit(name, projectDirectory);
  return [...texts.values()].sort().join('\n\n');
};

/** Where Node.js finds a package: the nearest `node_modules` that has it. */
const installed = (name: string, directory: string): string | undefined => {
  const candidate = join(directory, 'node_modules', name);
  if (existsSync(candidate)) return candidate;
  return directory === projectDirectory ? undefined : installed(name, join(directory, '..'));
};

const licence = async (name: string, { version, license, author }: Manifest, directory: string) => {
  const files = await readdir(directory);
  const file = files.find((each) => /^licen[cs]e/i.test(each));
  const text = file ? await readFile(join(directory, file), 'utf8') : '';
  const holder = typeof author === 'object' ? author.name : author;
  return `${name} ${version} (${license}${holder ? `, ${holder}` : ''})\n${text.trim()}`;
};
