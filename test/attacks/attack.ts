import { readFileSync } from 'node:fs';

/** One case of the catalogue: an attempt and the results that it must not have. */
export interface Attack {
  readonly id: string;
  readonly category: string;
  readonly class: string;
  readonly severity: string;
  readonly tool: string;
  readonly mode: 'policy' | 'run' | 'race' | 'fault' | 'http' | 'ui' | 'netstub';
  /** Only ever judged, never run: the harness refuses to. */
  readonly never_execute: boolean;
  /** An ordinary call that must work. */
  readonly control: boolean;
  readonly input: Readonly<Record<string, unknown>>;
  readonly setup: readonly string[];
  readonly expect: { readonly any_of: readonly OutcomeName[]; readonly assert: readonly string[] };
  readonly note: string;
}

export type OutcomeName = 'allow' | 'ask' | 'deny' | 'error' | 'reject' | 'sandboxed';

/** The result of an attack as seen from outside. */
export interface Observation {
  /** Every name that fits: code that ran in the sandbox without a question is both allowed and sandboxed. */
  readonly outcomes: readonly OutcomeName[];
  /** Everything that reached the caller: output, messages, errors. */
  readonly text: string;
  readonly durationMs: number;
  /** How code that ran ended, in words, if other than well: it may not have come to the attempt. */
  readonly failed?: string;
  /** Whether an ordinary call after the attack was answered, where the runner has tried one. */
  readonly answersAfter?: boolean;
  /** How long the call was allowed to take, where that is for the case to know. */
  readonly deadlineMs?: number;
  /** Names and addresses that were connected to, where the runner has seen them. */
  readonly dialled?: readonly string[];
  /** For checks that know the runner: the result as it came. */
  readonly detail: unknown;
}

export function readCatalogue(path: string): Attack[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Attack);
}

/** Puts the values of a run in the place of `{{NAME}}`, at any depth. */
export function fillIn<T>(value: T, values: Readonly<Record<string, string>>): T {
  if (typeof value === 'string') {
    return value.replace(/\{\{([A-Z0-9_]+)\}\}/g, (whole, name: string) => values[name] ?? whole) as T;
  }
  if (Array.isArray(value)) return value.map((each) => fillIn(each, values)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fillIn(each, values)])) as T;
}
