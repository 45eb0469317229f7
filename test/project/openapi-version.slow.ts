import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { info } from '../../lib/openapi/document.ts';
import { newPetStatuses } from '../support/new-pets.ts';
import { contract, contractText } from '../support/openapi-document.ts';

const git = (command: string) =>
  execFileSync('git', command.split(' '), {
    cwd: projectDirectory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

/** The document of the last release, a tag `v…`. It is `undefined` before the first release. */
const releasedDocument = (): string | undefined => {
  try {
    const [last] = git('tag --merged HEAD --sort=-version:refname --list v*').split('\n');
    return last ? git(`show ${last}:lib/contract/openapi.json`) : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Compares two documents. The changes decide which version the second one needs: a new major version if they
 * can break a client, a minor one for an addition, otherwise a patch. The report names changes and version.
 */
const compare = (before: string, after: string) => {
  const directory = mkdtempSync(join(tmpdir(), 'animal-store-openapi-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'before.json'), before);
  writeFileSync(join(directory, 'after.json'), after);
  const redocly = join(projectDirectory, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      redocly,
      'diff',
      join(directory, 'before.json'),
      join(directory, 'after.json'),
      '--config=.redocly.yaml',
      '--check-version',
      '--fail-on=none',
    ],
    { cwd: projectDirectory, encoding: 'utf8' },
  );
  return { hasRightVersion: status === 0, report: stdout + stderr };
};

/** The statuses that clients can send and the version with this document can't read. */
const statusesUnknownTo = (document: string) => {
  const { examples } = JSON.parse(document).components.schemas.Pet.properties.status;
  return newPetStatuses.filter((status) => !examples.includes(status));
};

describe('a change of openapi.json', () => {
  const released = releasedDocument();
  if (!released)
    console.info('openapi.json is compared with no release: this clone has no tag v… before HEAD.');

  it.skipIf(!released)(
    'since the last release has the version that it needs, and no status to send that the release cannot read',
    () => {
      const { hasRightVersion, report } = compare(released ?? '', contractText);
      expect(hasRightVersion, `Set version in lib/openapi/document.ts. ${report}`).toBe(true);
      const reason = 'Release the status in petStatuses before NewPet accepts it';
      expect(statusesUnknownTo(released ?? ''), reason).toEqual([]);
    },
  );

  it('tells by the examples of Pet which statuses a release can read', () => {
    expect(statusesUnknownTo(contractText)).toEqual([]);
    expect(statusesUnknownTo(contractText.replaceAll('"sold"', '"gone"'))).toEqual(['sold']);
  });

  it('that needs a new major version needs a new base path, so that /v1 breaks no client', () => {
    const [major] = info.version.split('.');
    for (const { url } of contract.servers) expect(url.split('/').at(-1)).toBe(`v${major}`);
  });

  const text = contractText.replace(`"version": "${info.version}"`, '"version": "1.2.3"');
  const added = '"/cats": { "get": { "responses": { "200": { "description": "OK" } } } }';
  it.each([
    ['another text', '1.2.4', text.replace('"title": "Animal store"', '"title": "Animals"')],
    ['a new path', '1.3.0', text.replace('"paths": {', `"paths": { ${added},`)],
    ['a new status', '1.2.4', text.replaceAll(/"available",(?=\s+"pending")/g, '$&"lost",')],
    ['a renamed field', '2.0.0', text.replaceAll('"categoryId"', '"category"')],
  ])('needs a new version, which the failure names: %s needs %s', (_what, needed, changed) => {
    expect(changed).not.toBe(text);
    const { hasRightVersion, report } = compare(text, changed);
    expect(hasRightVersion).toBe(false);
    expect(report).toContain(`info.version stayed 1.2.3, but these changes require`);
    expect(report).toContain(`(${needed})`);
    const withVersion = changed.replace('"1.2.3"', `"${needed}"`);
    expect(compare(text, withVersion).hasRightVersion).toBe(true);
  });
});
