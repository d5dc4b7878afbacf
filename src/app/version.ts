import { createRequire } from 'node:module';

/** This package's, as it is published; read once, so that no build step has to write it down. */
export const VERSION: string = createRequire(import.meta.url)('toolwright/package.json').version;
