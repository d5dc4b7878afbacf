import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
