import { App } from 'aws-cdk-lib';
import cdk from '../cdk.json' with { type: 'json' };
import { addSecurityRules } from './constructs/security-rules.ts';
import { githubStackId } from './settings/names.ts';
import { githubRepository } from './settings/owner.ts';
import { stages } from './settings/stages.ts';
import { GithubStack } from './stacks/github-stack.ts';

// An app of its own, so that a release neither synthesises nor deploys what releases may do.
const app = new App({ analyticsReporting: false, context: cdk.context });
const { owner, name, ownerId, repositoryId } = githubRepository;
const isNamed = [owner, name].every((part) => /^[\w.-]+$/.test(part));
if (!isNamed || ownerId <= 0 || repositoryId <= 0)
  console.error('warning: githubRepository is not set: set it in infra/settings/owner.ts.');
for (const [id, ofAccount] of Map.groupBy(stages, githubStackId))
  new GithubStack(app, id, ofAccount, githubRepository);
addSecurityRules(app);
app.synth();
