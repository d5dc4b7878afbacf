import { readFileSync } from 'node:fs';

/** Of this package: its package.json stands two folders above the sources and one above the built files. */
export const VERSION: string = (() => {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
      if (name === 'toolwright') return version as string;
    } catch {
      // Not there: the other place.
    }
  }
  return 'unknown';
})();
