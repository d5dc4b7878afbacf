import type { PresentedCall, PreviewBlock, VerdictPart } from '../../kernel/call/approval.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Verdict } from '../../kernel/ports.ts';
import { visible, visibleCommand, visibleText } from '../../kernel/text/visible.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import type { Runtime } from '../runtime.ts';
import type { CallScope } from './call-scope.ts';
import { digestOf } from './digest.ts';
import { Interruption } from './interruption.ts';

/** A call with valid arguments and the verdict of policy. */
export interface JudgedCall {
  readonly tool: Tool;
  readonly input: unknown;
  readonly access: readonly Access[];
  readonly verdict: Verdict;
}

/** Returns the presentation of a call for a person, and the approval digest that binds their answer to it. */
export async function presentCall(
  rt: Runtime,
  call: CallScope,
  judged: JudgedCall,
): Promise<{ shown: PresentedCall; digest: string }> {
  const { tool, input, access, verdict } = judged;
  call.stage = 'definition';
  const summary = tool.summary(input);
  const parts = verdict.parts ?? [{ what: tool.name, ...plain(verdict) }];
  const preview = blocksOf(access, parts, await previewText(call, judged));
  const { seen, digest } = await digestCall(rt, call, judged);
  return { shown: { summary: visible(summary), access, verdicts: parts, preview, seen }, digest };
}

/**
 * Computes the approval digest from the present files. It is computed again before the call runs: a difference means a
 * change.
 */
export async function digestCall(
  rt: Runtime,
  call: CallScope,
  { tool, access }: Pick<JudgedCall, 'tool' | 'access'>,
): Promise<{ seen: PresentedCall['seen']; digest: string }> {
  call.stage = 'policy';
  const seen = rt.fingerprinter === undefined ? {} : await call.bounded(rt.fingerprinter(access, call.context));
  const { session } = call;
  const bound = { version: tool.version, session, workspace: call.context.workingDir, seen };
  return { seen, digest: digestOf(tool.name, call.args, bound) };
}

/** A failed preview hides nothing, because the arguments are shown as well. */
async function previewText(call: CallScope, { tool, input }: JudgedCall): Promise<string> {
  try {
    return (await call.bounded(tool.preview?.(input, call.ctx))) ?? '';
  } catch (thrown) {
    if (Interruption.is(thrown)) throw thrown;
    return `No preview: ${messageOf(thrown)}`;
  }
}

const MAX_BLOCK_CHARACTERS = 20_000;

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
  const truncated = text.length > MAX_BLOCK_CHARACTERS || /^\[\d+ more lines of the diff\]$/m.test(text);
  return { text: text.slice(0, MAX_BLOCK_CHARACTERS), truncated };
}

/** Returns the host as it will be dialled, so that a lookalike such as "аpple.com" is visible. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

function plain({ verdict, rule, reason }: Verdict) {
  return { verdict, rule, reason };
}
