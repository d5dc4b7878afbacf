import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '../../../src/cli/run-cli.ts';
import { createCliFixture } from '../../../src/testing/cli-fixture.ts';
import type { Attack, Observation } from '../attack.ts';

/** Title, colour, clearing the screen, a link, a device control, an introducer of one character, a change of direction. */
const HOSTILE = '\u001b]0;PWNED\u0007\u001b[31m\u001b[2J\u001b]8;;http://x\u0007\u001bPq\u001b\\\u009b31m\u202e';
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
const NAME = `e${HOSTILE.replaceAll('/', '')}.txt`;

/** Shows hostile contents, names and commands by the command line in a terminal; `wrong` is what the terminal would obey. */
export async function showInTerminal(_attack: Attack): Promise<Observation> {
  using place = createCliFixture(process.env['PATH']);
  writeFileSync(join(place.workspace, NAME), `a line of ${HOSTILE}\n`);
  const views: readonly (readonly string[])[] = [
    ['call', 'read_file', '--path', NAME],
    ['call', 'list_directory', '--path', '.'],
    ['call', 'grep', '--pattern', 'line'],
    ['call', 'bash', '--command', `cat *.txt; echo '${HOSTILE}'`],
    ['call', 'write_file', '--path', NAME, '--content', `another ${HOSTILE}`],
    ['call', 'write_file', '--path', NAME, '--content', `another ${HOSTILE}`, '--dry-run'],
    ['explain', 'bash', '--command', `rm '${HOSTILE}'`],
    ['history'],
    ['history', '--json'],
    ['approvals'],
  ];
  let wrong: string | null = null;
  let told = '';
  for (const argv of views) {
    const said = await run(place, argv);
    told += said;
    // Sequences of our own, for colours, are switched off.
    if (OBEYED.test(said))
      wrong ??= `toolwright ${argv.slice(0, 2).join(' ')} shows ${JSON.stringify(said.slice(0, 300))}`;
  }
  if (!told.includes('a line of')) wrong ??= 'the content was not shown';
  return { outcomes: ['allow'], text: '', durationMs: 0, detail: { wrong } };
}

async function run(place: ReturnType<typeof createCliFixture>, argv: readonly string[]): Promise<string> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end('');
  let said = '';
  for (const stream of [stdout, stderr]) {
    Object.assign(stream, { isTTY: true }).setEncoding('utf8');
    stream.on('data', (text) => (said += text));
  }
  const env = { ...place.env, NO_COLOR: '1', TOOLWRIGHT_APPROVAL_TIMEOUT: '0.2' };
  await runCli(argv, { stdin, stdout, stderr, env, cwd: place.workspace, onInterrupt: () => () => {} }, '1.2.3');
  return said;
}
