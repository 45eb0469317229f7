import { bundleFunctions } from './bundle-functions.ts';

await bundleFunctions();
