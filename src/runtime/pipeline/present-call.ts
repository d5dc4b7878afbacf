import type { ChangeItem, PresentedCall, PreviewBlock, VerdictPart } from '../../kernel/call/approval.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Verdict } from '../../kernel/ports.ts';
import { isPromise } from '../../kernel/result.ts';
import { visible, visibleCommand, visibleText } from '../../kernel/text/visible.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { CallScope } from './call-scope.ts';
import { digestOf } from './digest.ts';
import { Interruption } from './interruption.ts';
import type { PlannedCall } from './judge-call.ts';
import { splitAtDiff } from './plan-call.ts';

/** Returns the presentation of a call for a person, and the approval digest that binds their answer to it. */
export async function presentCall(
  call: CallScope,
  planned: PlannedCall,
): Promise<{ shown: PresentedCall; digest: string }> {
  const { tool, input, subject, verdict, derived } = planned;
  const { access } = subject;
  call.stage = 'definition';
  const summary = tool.summary(input);
  const parts = (verdict.parts ?? [{ what: tool.name, ...plain(verdict) }]).map(readablePart);
  const preview = [...blocksOf(access, parts), ...(await previewOf(call, planned)).map(readable)];
  const shown = { summary: visible(summary), access, verdicts: parts, preview, seen: derived?.seen ?? {} };
  return { shown, digest: digestCall(call, planned) };
}

/**
 * Computes the approval digest of a call from its arguments and its plan. It is computed again before the call runs: a
 * difference means a change.
 */
export function digestCall(call: CallScope, { tool, derived }: PlannedCall): string {
  const { session, context, args } = call;
  const { seen = {}, plan } = derived ?? {};
  const { version } = tool;
  return digestOf(tool.name, args, { version, session, workspace: context.workingDir, seen, bound: plan?.bound });
}

/** A failed preview hides nothing, because the arguments are shown as well. */
async function previewOf(call: CallScope, planned: PlannedCall): Promise<readonly PreviewBlock[]> {
  try {
    return await previewBlocks(call, planned);
  } catch (thrown) {
    if (Interruption.is(thrown)) throw thrown;
    return splitAtDiff(`No preview: ${messageOf(thrown)}`);
  }
}

/** The preview that the tool or its plan gives. */
export async function previewBlocks(call: CallScope, planned: PlannedCall): Promise<readonly PreviewBlock[]> {
  const { tool, input, derived } = planned;
  if (derived !== undefined) return derived.preview();
  return splitAtDiff((await call.bounded(tool.preview?.(input, call.ctx))) ?? '');
}

/** Rejects an async method: it would read "[object Promise]", and its rejection would end the process. */
export function requireString(method: string, text: unknown): string {
  if (typeof text === 'string') return text;
  if (isPromise(text)) text.catch(() => {});
  throw new TypeError(`its ${method} must return a string, and at once`);
}

const MAX_BLOCK_CHARACTERS = 20_000;

function blocksOf(access: readonly Access[], parts: readonly VerdictPart[]): PreviewBlock[] {
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
  return blocks;
}

function readablePart(part: VerdictPart): VerdictPart {
  return { ...part, what: visible(part.what), reason: visible(part.reason) };
}

function readable(block: PreviewBlock): PreviewBlock {
  if (block.kind === 'changes') return { ...block, items: block.items.map(readableItem) };
  if (block.kind !== 'text' && block.kind !== 'diff') return block;
  const { text, truncated } = cut(visibleText(block.text));
  return { kind: block.kind, text, truncated: truncated || block.truncated };
}

/** Texts come from a command, which may have made them look like something else. The path stays exact: people choose by it. */
function readableItem(item: ChangeItem): ChangeItem {
  const { diff, leadsTo } = item;
  return {
    ...item,
    ...(diff !== undefined && { diff: visibleText(diff) }),
    ...(leadsTo !== undefined && { leadsTo: visible(leadsTo) }),
  };
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

/**
 * The paths of a call whose whole change a person was shown: who then says yes has agreed to these texts. A diff that was cut, a file
 * without one and a folder that stands for what is in it are not among them.
 */
export function pathsShown({ derived }: Pick<PlannedCall, 'derived'>, shown: PresentedCall | null): readonly string[] {
  const preview = shown?.preview ?? [];
  const ofCommand = preview
    .flatMap((block) => (block.kind === 'changes' ? block.items : []))
    .filter(({ diff, truncated }) => diff !== undefined && truncated !== true && isWhole(diff))
    .map(({ path }) => path);
  const writes = (derived?.plan.changes ?? []).flatMap((change) => (change.kind === 'write' ? [change.path] : []));
  const diffs = preview.flatMap((block) => (block.kind === 'diff' ? [block] : []));
  const areShown = diffs.length === writes.length && diffs.every(({ text, truncated }) => !truncated && isWhole(text));
  return areShown ? [...ofCommand, ...writes] : ofCommand;
}

/** Diffs say in brackets what they leave out; a line of a file has a sign in front. */
function isWhole(diff: string): boolean {
  return !/^\[/m.test(diff);
}
