import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';

import cdk from '../../cdk.json' with { type: 'json' };
import { stackName } from '../../infra/settings/names.ts';
import type { Stage } from '../../infra/settings/stages.ts';
import { AnimalStoreStack } from '../../infra/stacks/animal-store-stack.ts';
import { shared } from './shared.ts';

/** The folder that holds the synthesised stacks of the project, made once for a run. */
export const assemblyDirectory = (): string => shared('assembly');

/** The template of a stage of the project, from the synthesised stacks. */
export const deployedTemplate = (stage: Stage): Template => {
  const path = join(assemblyDirectory(), `${stackName(stage)}.template.json`);
  return Template.fromJSON(JSON.parse(readFileSync(path, 'utf8')));
};

/**
 * An app whose folder is removed after the run. By default it is without the CDK's own rules, which take over
 * a second in each test file. `cdk-rules.test.ts` applies them.
 */
export const newApp = ({ builtinCloudFormationValidation = false } = {}): App =>
  new App({
    context: cdk.context,
    builtinCloudFormationValidation,
    outdir: mkdtempSync(join(assemblyDirectory(), 'app-')),
  });

/** The stack of any stage, in an app of its own. */
export const stackOf = (stage: Stage): AnimalStoreStack =>
  new AnimalStoreStack(newApp(), stackName(stage), stage);

/** The template of any stage, synthesised now. */
export const templateOf = (stage: Stage): Template => Template.fromStack(stackOf(stage));

/** A logical id without the hash at its end, which changes with the contents of the resource. */
export const withoutHash = (id: string): string => id.replace(/[0-9A-F]{8}([0-9a-f]{32})?$/, '');

/** The properties of each resource of a type. */
export const propertiesOf = (template: Template, type: string) =>
  Object.values(template.findResources(type)).map(({ Properties }) => Properties);

/**
 * The logical id of the one resource of a type whose id begins with `start`. Throws
 * unless there is exactly one.
 */
export const idOf = (template: Template, type: string, start: string): string => {
  const [id, ...others] = Object.keys(template.findResources(type)).filter((each) =>
    each.startsWith(start),
  );
  if (id === undefined || others.length > 0) throw new Error(`No ${type}, or several: ${start}`);
  return id;
};
