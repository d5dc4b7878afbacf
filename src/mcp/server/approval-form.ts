import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { ApprovalRequest, ApprovalResponse } from '../../kernel/ports.ts';
import { visible } from '../../kernel/text/visible.ts';

type FormSchema = ElicitRequestFormParams['requestedSchema'];
type FormFields = FormSchema['properties'];

/**
 * Makes the form for the client's user: allow or deny, a reason, and the arguments that fit into form fields; with
 * `rules`
 * also "always", which would save them.
 */
export function approvalForm(request: ApprovalRequest, rules: readonly string[] = []): ElicitRequestFormParams {
  const properties: FormFields = {
    [DECISION]: {
      type: 'string',
      title: 'Decision',
      description: 'deny: it does not run, and the model gets your reason',
      ...(rules.length === 0 ? ONCE : FOR_GOOD),
    },
  };
  for (const [name, value] of editable(request.args)) properties[`${ARGUMENT}${name}`] = fieldFor(name, value);
  properties[REASON] = { type: 'string', title: 'Reason', description: 'Reason for the model, sent with deny' };
  return {
    mode: 'form',
    message: messageFor(request, rules),
    requestedSchema: { type: 'object', properties, required: [DECISION] },
  };
}

const ONCE = { enum: ['allow', 'deny'], enumNames: ['Allow this call', 'Deny it'] };
const FOR_GOOD = {
  enum: ['allow', 'always', 'deny'],
  enumNames: ['Allow this call', 'Always allow: save the rules above', 'Deny it'],
};

const DECISION = 'decision';
const REASON = 'reason';
/** Prefix that keeps arguments apart from our own fields, whatever their names. */
const ARGUMENT = 'argument_';

/** `always` holds the rules that were shown. */
export type FormAnswer = ApprovalResponse & { readonly always?: readonly string[] };

/** Reads the answered form. Only the exact value "allow" approves, and "always" where it was offered. */
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

const EITHER_OR = '"always" covers the original call, not an edited one. Ask again and choose one of the two.';

const MAX_FIELD_CHARS = 500;

/**
 * Leaves out long texts, texts of several lines and texts with invisible characters: a one-line form would return them
 * changed, and a change the user did not intend would run.
 */
function editable(args: Record<string, unknown>): [string, unknown][] {
  return Object.entries(args).filter(([, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (text === undefined || value === null || text.length > MAX_FIELD_CHARS) return false;
    return !/[\n\r]/.test(text) && visible(text) === text;
  });
}

function fieldFor(argument: string, value: unknown): FormFields[string] {
  const name = shownName(argument);
  if (typeof value === 'boolean') return { type: 'boolean', title: name, default: value };
  if (typeof value === 'number') return { type: 'number', title: name, default: value };
  if (typeof value === 'string') return { type: 'string', title: name, default: value };
  return { type: 'string', title: `${name} (JSON)`, default: JSON.stringify(value) };
}

type EditedArguments = { ok: true; args: Record<string, unknown> | undefined } | { ok: false; problem: string };

function editsIn(args: Record<string, unknown>, fields: Record<string, unknown>): EditedArguments {
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

/** Shows the name of an argument on one line, whatever the model called it. */
function shownName(argument: string): string {
  return visible(argument).replace(/\s+/g, ' ');
}

const MAX_MESSAGE_CHARS = 8000;

/**
 * Whether the form can show the whole call and the rules to be saved: a person must not approve a part that was cut
 * off.
 */
export function fitsForm(request: ApprovalRequest, rules: readonly string[] = []): boolean {
  return messageFor(request, rules).length <= MAX_MESSAGE_CHARS;
}

/**
 * Indents the lines of an argument, a summary or a reason, so that none can pass for another argument or for our own
 * text.
 */
function messageFor({ tool, summary, reason, args }: ApprovalRequest, rules: readonly string[]): string {
  const shown = Object.entries(args).map(([argument, value]) => {
    const name = shownName(argument);
    const text = visible(typeof value === 'string' ? value : JSON.stringify(value));
    return text.includes('\n') ? `${name}:\n${text.replace(/^/gm, '  | ')}` : `${name}: ${text}`;
  });
  const saved = rules.map((rule) => `  | ${visible(rule)}`);
  const always = rules.length === 0 ? [] : ['"always" would save, for this workspace:', ...saved];
  const [what, why] = [summary, reason].map((text) => visible(text).replaceAll('\n', '\n  | '));
  return [`Allow ${tool}? ${what}`, why, ...shown, ...always].join('\n');
}
