import { posix } from 'node:path';
import type { Access } from '../../kernel/tool/access.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';
import type { ScriptFiles } from '../../kernel/world/commands.ts';

/**
 * A rule for `npm test` allows two words, but package.json decides what runs, and anyone may have changed it. So the
 * script behind such a command needs approval once in a session, and again when it has changed. A script that cannot be
 * determined needs approval every time.
 */

type UnfamiliarScript = NonNullable<Extract<Access, { kind: 'process.run' }>['unfamiliar']>;

export function runsScripts({ named, sought, unclear }: ScriptFiles): boolean {
  return named.length > 0 || sought.length > 0 || unclear !== undefined;
}

export async function unfamiliarScript(scripts: ScriptFiles, ctx: ToolContext): Promise<UnfamiliarScript | undefined> {
  if (scripts.unclear !== undefined)
    return { path: 'a script', reason: `It is unclear which script runs: ${scripts.unclear}.` };
  const { found, missing } = await textsOf(scripts, ctx);
  seenScripts.set(ctx, found);
  const [lost] = missing;
  if (lost !== undefined) return { path: lost, reason: `It runs ${lost}, which cannot be read here.` };
  const strange = found.find(({ path, text }) => !ctx.commands.isFamiliar(path, text));
  if (strange === undefined) return undefined;
  const { path, text } = strange;
  const shown = text.length > 200 ? `${text.slice(0, 200)} …` : text;
  return { path, reason: `It runs what ${path} says, and this text has not run in this session yet: ${shown}` };
}

/** Script texts at the time of the judgement, not the current ones, which no person has seen. */
const seenScripts = new WeakMap<ToolContext, ScriptTexts['found']>();

export function rememberScripts(ctx: ToolContext): void {
  for (const { path, text } of seenScripts.get(ctx) ?? []) ctx.commands.remember(path, text);
}

interface ScriptTexts {
  readonly found: readonly { readonly path: string; readonly text: string }[];
  /** Named files that cannot be compared: a folder, a path outside the workspace. */
  readonly missing: readonly string[];
}

const MAX_CACHE_BYTES = 64 * 1024 * 1024;

/** Current texts. */
async function textsOf({ named, sought }: ScriptFiles, ctx: ToolContext): Promise<ScriptTexts> {
  const found: { path: string; text: string }[] = [];
  const missing: string[] = [];
  for (const path of new Set([...named, ...sought])) {
    const read = await ctx.files.readText(path);
    if (read.ok) found.push({ path: read.value.path, text: relevant(read.value.path, read.value.text) });
    else if (named.includes(path) && read.error.code !== 'FILE_NOT_FOUND') {
      const bytes = await ctx.files.readBytes(path, MAX_CACHE_BYTES);
      if (bytes.ok) found.push({ path: bytes.value.path, text: `a program, version ${bytes.value.version}` });
      else missing.push(path);
    }
  }
  return { found, missing };
}

/** Fields of package.json that run nothing. */
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
