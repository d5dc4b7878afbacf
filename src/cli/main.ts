#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const argv = process.argv.slice(2);
const version = versionOf();

// Asked for by scripts, in loops: nothing else is loaded for it.
if (argv[0] === '--version' || argv[0] === '-V') process.stdout.write(`${version}\n`);
else {
  const [{ runCli }, { processIo }] = await Promise.all([import('./run-cli.ts'), import('./io.ts')]);
  process.exitCode = await runCli(argv, processIo(), version);
}

/** From the package's own file, which is one folder up in a build and two in a checkout. */
function versionOf(): string {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
      if (name === 'toolwright') return version;
    } catch {
      // Not there: try the next.
    }
  }
  return 'unknown';
}
