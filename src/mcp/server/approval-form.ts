import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { ApprovalRequest, ApprovalResponse } from '../../kernel/ports.ts';
import { visible } from '../../kernel/visible.ts';

type Schema = ElicitRequestFormParams['requestedSchema'];
type Fields = Schema['properties'];

/**
 * A form for the client's user: yes or no, a reason, and those arguments that fit into a form's fields; with `rules` also
 * a yes for good, which would save them.
 */
export function approvalForm(request: ApprovalRequest, rules: readonly string[] = []): ElicitRequestFormParams {
  const properties: Fields = {
    [DECISION]: {
      type: 'string',
      title: 'Decision',
      description: 'deny: it does not run, and the model is told your reason',
      ...(rules.length === 0 ? ONCE : FOR_GOOD),
    },
  };
  for (const [name, value] of editable(request.args)) properties[`${ARGUMENT}${name}`] = fieldFor(name, value);
  properties[REASON] = { type: 'string', title: 'Reason', description: 'On a refusal, words for the model' };
  return {
    mode: 'form',
    message: messageFor(request, rules),
    requestedSchema: { type: 'object', properties, required: [DECISION] },
  };
}

const ONCE = { enum: ['allow', 'deny'], enumNames: ['Allow this call', 'Deny it'] };
const FOR_GOOD = {
  enum: ['allow', 'always', 'deny'],
  enumNames: ['Allow this call', 'Allow it always: save the rules above', 'Deny it'],
};

const DECISION = 'decision';
const REASON = 'reason';
/** Arguments stand apart from our own fields, whatever they are called. */
const ARGUMENT = 'argument_';

/** `always` holds the rules that were shown. */
export type FormAnswer = ApprovalResponse & { readonly always?: readonly string[] };

/** What the form came back with. Only «allow» in so many words is a yes, and «always» where it was offered. */
export function approvalAnswer(
  request: ApprovalRequest,
  { answer, by, rules = [] }: { answer: unknown; by: string; rules?: readonly string[] },
): FormAnswer {
  const { action, content } = (answer ?? {}) as { action?: unknown; content?: unknown };
  const fields = (typeof content === 'object' && content !== null ? content : {}) as Record<string, unknown>;
  const reason = fields[REASON];
  const message = typeof reason === 'string' && reason.trim() !== '' ? reason : undefined;
  const isAlways = rules.length > 0 && fields[DECISION] === 'always';
  if (action !== 'accept' || !(isAlways || fields[DECISION] === 'allow')) {
    const why = message ?? (action === 'cancel' ? 'the question was dismissed without an answer.' : undefined);
    return { approved: false, by, ...(why !== undefined && { message: why }) };
  }
  const edits = editsIn(request.args, fields);
  if (!edits.ok) return { approved: false, by, message: edits.problem };
  if (isAlways && edits.args !== undefined) return { approved: false, by, message: EITHER_OR };
  if (isAlways) return { approved: true, by, always: rules };
  return { approved: true, by, ...(edits.args !== undefined && { modifiedArgs: edits.args }) };
}

const EITHER_OR =
  '«always» covers the call as it was asked, not as it was edited. Ask again; one of the two can be chosen.';

const LONGEST_FIELD = 500;

/**
 * Long texts, those of several lines and those with characters that nobody sees are left out: a form of one line would
 * give them back changed, and what was not meant as an edit would run.
 */
function editable(args: Record<string, unknown>): [string, unknown][] {
  return Object.entries(args).filter(([, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (text === undefined || value === null || text.length > LONGEST_FIELD) return false;
    return !/[\n\r]/.test(text) && visible(text) === text;
  });
}

function fieldFor(argument: string, value: unknown): Fields[string] {
  const name = shownName(argument);
  if (typeof value === 'boolean') return { type: 'boolean', title: name, default: value };
  if (typeof value === 'number') return { type: 'number', title: name, default: value };
  if (typeof value === 'string') return { type: 'string', title: name, default: value };
  return { type: 'string', title: `${name} (JSON)`, default: JSON.stringify(value) };
}

type Edits = { ok: true; args: Record<string, unknown> | undefined } | { ok: false; problem: string };

function editsIn(args: Record<string, unknown>, fields: Record<string, unknown>): Edits {
  const edited: Record<string, unknown> = {};
  for (const [name, before] of editable(args)) {
    const given = fields[`${ARGUMENT}${name}`];
    if (given === undefined || given === null) continue;
    const isJson = typeof before === 'object';
    if (given === (isJson ? JSON.stringify(before) : before)) continue;
    if (!isJson) {
      edited[name] = given;
      continue;
    }
    try {
      edited[name] = JSON.parse(String(given));
    } catch {
      return { ok: false, problem: `the edited ${name} is not JSON, so the call did not run. Ask again.` };
    }
  }
  return { ok: true, args: Object.keys(edited).length === 0 ? undefined : { ...args, ...edited } };
}

/** On one line, whatever the model called it. */
function shownName(argument: string): string {
  return visible(argument).replace(/\s+/g, ' ');
}

const LONGEST_SHOWN = 8000;

/** A form shows what runs, and what would be saved, whole or not at all: nobody says yes to the part that was cut off. */
export function fitsForm(request: ApprovalRequest, rules: readonly string[] = []): boolean {
  return messageFor(request, rules).length <= LONGEST_SHOWN;
}

/** Lines of an argument, of a summary or of a reason stand apart, so that none of them passes for another argument or for our own words. */
function messageFor({ tool, summary, reason, args }: ApprovalRequest, rules: readonly string[]): string {
  const shown = Object.entries(args).map(([argument, value]) => {
    const name = shownName(argument);
    const text = visible(typeof value === 'string' ? value : JSON.stringify(value));
    return text.includes('\n') ? `${name}:\n${text.replace(/^/gm, '  | ')}` : `${name}: ${text}`;
  });
  const saved = rules.map((rule) => `  | ${visible(rule)}`);
  const always = rules.length === 0 ? [] : ['«always» would save, for this workspace:', ...saved];
  const [what, why] = [summary, reason].map((text) => visible(text).replaceAll('\n', '\n  | '));
  return [`Allow ${tool}? ${what}`, why, ...shown, ...always].join('\n');
}
