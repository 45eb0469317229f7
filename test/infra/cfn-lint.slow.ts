import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { stages } from '../../infra/settings/stages.ts';
import { pythonTool } from '../support/python-tool.ts';
import { assemblyDirectory } from '../support/templates.ts';

const cfnLint = pythonTool('cfn-lint');

if (!cfnLint) console.info('No template is linted: .ci/python-tools installs cfn-lint.');

it.skipIf(cfnLint === undefined)('the templates pass cfn-lint', () => {
  const regions = stages.flatMap(({ env }) => env?.region ?? []);
  const templates = `${assemblyDirectory()}/*.template.json`;
  // The CDK makes a function wait for its role's policies as well, and for the role by the way.
  const words = ['--ignore-checks', 'W3005', '--regions', ...new Set(regions)];
  const { status, stdout, stderr } = spawnSync(`${cfnLint}`, [...words, '--template', templates], {
    encoding: 'utf8',
  });
  expect(stdout + stderr).toBe('');
  expect(status).toBe(0);
});
