#!/usr/bin/env node
import { VERSION } from '../app/version.ts';

const argv = process.argv.slice(2);

// Scripts ask for the version in loops: nothing else is loaded for it.
if (argv[0] === '--version' || argv[0] === '-V') process.stdout.write(`${VERSION}\n`);
else {
  const [{ runCli }, { processIo }] = await Promise.all([import('./run-cli.ts'), import('./io.ts')]);
  // Waiting for another process, such as for an approval, does not keep this process alive by itself.
  const waiting = setInterval(() => {}, 60_000);
  process.exitCode = await runCli(argv, processIo(), VERSION);
  clearInterval(waiting);
}
