import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stackName } from '../../infra/settings/names.ts';
import { stages } from '../../infra/settings/stages.ts';

/** The file of the template of every stack that the fake CDK synthesises. */
export const templateFile = `${'5'.repeat(64)}.json`;

/**
 * Writes a program `cdk` into a folder, which replaces the CDK's command line: it writes down its arguments,
 * and `synth` writes the stacks of every stage into the folder that is its last argument. Returns the file
 * with the arguments.
 */
export const addFakeCdk = async (folder: string): Promise<string> => {
  const place = (name: string) => ['$', `{AWS::${name}}`].join('');
  const bucket = `cdk-hnb659fds-assets-${place('AccountId')}-${place('Region')}`;
  const artifact = {
    type: 'aws:cloudformation:stack',
    environment: 'aws://unknown-account/unknown-region',
    properties: {
      templateFile: 'template.json',
      stackTemplateAssetObjectUrl: `s3://${bucket}/${templateFile}`,
    },
  };
  const names = [...stages, { name: 'dev-alice' }].map(stackName);
  const artifacts = Object.fromEntries(names.map((name) => [name, artifact]));
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ version: '36.0.0', artifacts }));
  const script = `#!/bin/bash
echo "$*" >>"$0.log"
if [ "$1" = synth ]; then cp "\${0%/*}/manifest.json" "\${@: -1}"; fi
`;
  await writeFile(join(folder, 'cdk'), script, { mode: 0o755 });
  return join(folder, 'cdk.log');
};
