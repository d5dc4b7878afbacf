/** A JSON Schema (draft 2020-12) as plain data. */
export type JsonSchema = { readonly [key: string]: unknown };

/** One problem of the arguments, in a sentence that names the parameter by its path. */
export interface Issue {
  /** `path`, `edits[0].old`; empty for the arguments as a whole. */
  path: string;
  message: string;
}

export type CheckedArguments<T> =
  | { ok: true; value: T; warnings: readonly string[] }
  | { ok: false; issues: readonly [Issue, ...Issue[]]; warnings: readonly string[] };

/**
 * The arguments a tool accepts. Zod schemas, parameter lists and foreign JSON Schemas all become one of these; no other
 * code reads arguments before they passed `check`.
 */
export interface InputSchema<T = unknown> {
  /** The advertised schema: one name per parameter, no aliases. */
  readonly json: JsonSchema;
  /** Never throws. `value` has aliases resolved and defaults filled in; it is never the object that was passed in. */
  check(args: unknown): CheckedArguments<T>;
  /** Returns the same schema with parameters renamed, by their own names; sentences and JSON use the new names. */
  shownAs(names: ReadonlyMap<string, string>): InputSchema<T>;
}

/** Other names under which a parameter is accepted: `{ path: ['file_path', 'filePath'] }`. */
export type ParameterAliases = Readonly<Record<string, readonly string[]>>;
