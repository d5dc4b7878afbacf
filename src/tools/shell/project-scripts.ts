import { posix } from 'node:path';
import type { Access } from '../../kernel/tool/access.ts';
import type { ScriptFiles } from '../../kernel/world/commands.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';

/**
 * A rule for `npm test` allows two words; what runs is what package.json says, and anybody may have changed that. So
 * the text behind such a command is asked about once in a session, and again when it has changed. What nobody can tell
 * is asked about every time.
 */

type Unfamiliar = NonNullable<Extract<Access, { kind: 'process.run' }>['unfamiliar']>;

export function runsScripts({ named, sought, unclear }: ScriptFiles): boolean {
  return named.length > 0 || sought.length > 0 || unclear !== undefined;
}

export async function unfamiliarScript(scripts: ScriptFiles, ctx: ToolContext): Promise<Unfamiliar | undefined> {
  if (scripts.unclear !== undefined)
    return { path: 'a script', reason: `Nobody can tell what runs: ${scripts.unclear}.` };
  const { found, missing } = await textsOf(scripts, ctx);
  seen.set(ctx, found);
  const [lost] = missing;
  if (lost !== undefined) return { path: lost, reason: `It runs what ${lost} says, and that cannot be read here.` };
  const strange = found.find(({ path, text }) => !ctx.commands.isFamiliar(path, text));
  if (strange === undefined) return undefined;
  const { path, text } = strange;
  const shown = text.length > 200 ? `${text.slice(0, 200)} …` : text;
  return { path, reason: `It runs what ${path} says, and this text has not run in this session yet: ${shown}` };
}

/** The texts as they were when the call was judged, and not as they are by now: nobody has seen those. */
const seen = new WeakMap<ToolContext, Texts['found']>();

export function rememberScripts(ctx: ToolContext): void {
  for (const { path, text } of seen.get(ctx) ?? []) ctx.commands.remember(path, text);
}

interface Texts {
  readonly found: readonly { readonly path: string; readonly text: string }[];
  /** Named, and nothing that could be compared: a folder, something outside. */
  readonly missing: readonly string[];
}

const MOST_BYTES = 64 * 1024 * 1024;

/** As they are now. */
async function textsOf({ named, sought }: ScriptFiles, ctx: ToolContext): Promise<Texts> {
  const found: { path: string; text: string }[] = [];
  const missing: string[] = [];
  for (const path of new Set([...named, ...sought])) {
    const read = await ctx.files.readText(path);
    if (read.ok) found.push({ path: read.value.path, text: relevant(read.value.path, read.value.text) });
    else if (named.includes(path) && read.error.code !== 'FILE_NOT_FOUND') {
      const bytes = await ctx.files.readBytes(path, MOST_BYTES);
      if (bytes.ok) found.push({ path: bytes.value.path, text: `a program, version ${bytes.value.version}` });
      else missing.push(path);
    }
  }
  return { found, missing };
}

/** Fields of package.json that nothing runs. */
const DESCRIPTIONS = [
  'name',
  'version',
  'description',
  'keywords',
  'author',
  'license',
  'repository',
  'homepage',
  'bugs',
];

function relevant(path: string, text: string): string {
  if (posix.basename(path) !== 'package.json') return text;
  try {
    const fields = Object.entries(JSON.parse(text) as Record<string, unknown>);
    const { scripts, ...rest } = Object.fromEntries(fields.filter(([name]) => !DESCRIPTIONS.includes(name)));
    return JSON.stringify({ scripts, ...rest });
  } catch {
    return text;
  }
}
