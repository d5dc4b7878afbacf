import type { Access } from '../../kernel/tool/access.ts';
import type { PreviewBlock, Shown, VerdictPart } from '../../kernel/approval.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Verdict } from '../../kernel/ports.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import { visible, visibleCommand, visibleText } from '../../kernel/visible.ts';
import type { CallScope } from '../call-scope.ts';
import { digestOf } from './digest.ts';
import { Interruption } from './interruption.ts';
import type { Runtime } from '../runtime.ts';

/** Arguments that are valid, and what policy says of them. */
export interface Judged {
  readonly tool: Tool;
  readonly input: unknown;
  readonly access: readonly Access[];
  readonly verdict: Verdict;
}

/** What a person is shown of a call, and the digest that binds their answer to it. */
export async function show(rt: Runtime, call: CallScope, judged: Judged): Promise<{ shown: Shown; digest: string }> {
  const { tool, input, access, verdict } = judged;
  call.stage = 'definition';
  const summary = tool.summary(input);
  const parts = verdict.parts ?? [{ what: tool.name, ...plain(verdict) }];
  const preview = blocksOf(access, parts, await previewText(call, judged));
  const { seen, digest } = await bind(rt, call, judged);
  return { shown: { summary: visible(summary), access, verdicts: parts, preview, seen }, digest };
}

/** Looks at what the call would touch, now. Asked again before it runs: another digest means that something changed. */
export async function bind(
  rt: Runtime,
  call: CallScope,
  { tool, access }: Pick<Judged, 'tool' | 'access'>,
): Promise<{ seen: Shown['seen']; digest: string }> {
  call.stage = 'policy';
  const seen = rt.witness === undefined ? {} : await call.bounded(rt.witness(access, call.context));
  const { session } = call;
  const bound = { version: tool.version, session, workspace: call.context.workingDir, seen };
  return { seen, digest: digestOf(tool.name, call.args, bound) };
}

/** A preview that fails hides nothing: the arguments are shown as well. */
async function previewText(call: CallScope, { tool, input }: Judged): Promise<string> {
  try {
    return (await call.bounded(tool.preview?.(input, call.ctx))) ?? '';
  } catch (thrown) {
    if (Interruption.is(thrown)) throw thrown;
    return `There is no preview: ${messageOf(thrown)}`;
  }
}

const LONGEST_BLOCK = 20_000;

function blocksOf(access: readonly Access[], parts: readonly VerdictPart[], text: string): PreviewBlock[] {
  const blocks: PreviewBlock[] = [];
  for (const touched of access) {
    if (touched.kind === 'process.run') {
      const { text: command, truncated } = cut(visibleCommand(touched.command));
      blocks.push({ kind: 'command', command, parts, truncated });
    }
    if (touched.kind === 'net.fetch') {
      const { method, url } = touched;
      blocks.push({ kind: 'url', method, url: cut(visibleCommand(url)).text, host: hostOf(url) });
    }
  }
  const start = text.search(/^@@ /m);
  const [words, diff] = start === -1 ? [text, ''] : [text.slice(0, start), text.slice(start)];
  if (words.trim() !== '') blocks.push({ kind: 'text', ...cut(visibleText(words.trimEnd())) });
  if (diff !== '') blocks.push({ kind: 'diff', ...cut(visibleText(diff)) });
  return blocks;
}

function cut(text: string): { text: string; truncated: boolean } {
  const truncated = text.length > LONGEST_BLOCK || /^\[\d+ more lines of the diff\]$/m.test(text);
  return { text: text.slice(0, LONGEST_BLOCK), truncated };
}

/** As it will be dialled, so that «аpple.com» does not pass for another. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

function plain({ verdict, rule, reason }: Verdict) {
  return { verdict, rule, reason };
}
