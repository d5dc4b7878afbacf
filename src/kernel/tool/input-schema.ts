/** A JSON Schema (draft 2020-12) as plain data. */
export type JsonSchema = { readonly [key: string]: unknown };

/** One thing that is wrong with the arguments, in a sentence that names the parameter by its path. */
export interface Issue {
  /** `path`, `edits[0].old`; empty for the arguments as a whole. */
  path: string;
  message: string;
}

export type Checked<T> =
  | { ok: true; value: T; warnings: readonly string[] }
  | { ok: false; issues: readonly [Issue, ...Issue[]]; warnings: readonly string[] };

/**
 * What a tool accepts. Zod schemas, parameter lists and foreign JSON Schemas all become one of these; nothing else
 * in the system looks at arguments before they passed `check`.
 */
export interface InputSchema<T = unknown> {
  /** What is advertised: one name per parameter, no aliases. */
  readonly json: JsonSchema;
  /** Never throws. `value` has aliases resolved and defaults filled in; it never is the object that came in. */
  check(args: unknown): Checked<T>;
  /** The same schema with parameters under other names, given by their own; sentences and JSON use the names shown. */
  shownAs(names: ReadonlyMap<string, string>): InputSchema<T>;
}

/** Other names under which a parameter is accepted: `{ path: ['file_path', 'filePath'] }`. */
export type ParameterAliases = Readonly<Record<string, readonly string[]>>;
