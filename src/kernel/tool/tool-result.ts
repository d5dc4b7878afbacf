import { type Failure, ToolError } from '../error.ts';
import type { Metadata } from '../result.ts';

/** The fields of every result beside its value or error. */
interface ResultExtras {
  readonly metadata: Metadata;
  /** Problems that did not stop the call, such as an unknown parameter. */
  readonly warnings: readonly string[];
  /** The text for the model: rendered and bounded. */
  readonly text: string;
  /** Null for a result that no call produced. */
  readonly callId: string | null;
  /** The text for a person: the output, or `Error: …`. */
  toDisplay(): string;
}

export interface ToolSuccess<T> extends ResultExtras {
  readonly ok: true;
  readonly value: T;
  readonly success: true;
  readonly output: T;
  readonly error: null;
}

export interface ToolFailure extends ResultExtras {
  readonly ok: false;
  readonly error: ToolError;
  readonly success: false;
  readonly value?: undefined;
  readonly output: null;
}

/** The library's answer to a call. Its own properties are plain data, so it goes into JSON as it is. */
export type ToolResult<T = unknown> = ToolSuccess<T> | ToolFailure;

/** The one empty metadata, so that code can compare with it. */
export const NO_METADATA: Metadata = Object.freeze({});
const NO_WARNINGS: readonly string[] = Object.freeze([]);

type GivenExtras = { readonly [K in Exclude<keyof ResultExtras, 'toDisplay'>]?: ResultExtras[K] | undefined };

class Success<T> implements ToolSuccess<T> {
  readonly ok = true as const;
  readonly value: T;
  readonly metadata: Metadata;
  readonly warnings: readonly string[];
  readonly text: string;
  readonly callId: string | null;

  constructor(value: T, extras: GivenExtras) {
    this.value = value;
    this.metadata = extras.metadata ?? NO_METADATA;
    this.warnings = extras.warnings ?? NO_WARNINGS;
    this.text = extras.text ?? textOf(value);
    this.callId = extras.callId ?? null;
  }

  get success() {
    return true as const;
  }
  get output(): T {
    return this.value;
  }
  get error() {
    return null;
  }
  toDisplay(): string {
    return this.text;
  }
}

class FailedResult implements ToolFailure {
  readonly ok = false as const;
  readonly error: ToolError;
  readonly metadata: Metadata;
  readonly warnings: readonly string[];
  readonly text: string;
  readonly callId: string | null;

  constructor(error: ToolError, extras: GivenExtras) {
    this.error = error;
    this.metadata = extras.metadata ?? NO_METADATA;
    this.warnings = extras.warnings ?? NO_WARNINGS;
    this.text = extras.text ?? `Error: ${error.message}`;
    this.callId = extras.callId ?? null;
  }

  get success() {
    return false as const;
  }
  get output() {
    return null;
  }
  toDisplay(): string {
    return `Error: ${this.error.message}`;
  }
}

export const ToolResult = {
  ok<T>(output: T, metadata?: Metadata): ToolResult<T> {
    return new Success(output, metadata === undefined ? {} : { metadata });
  },
  /** `failure` is the sentence, or plain failure data when the code matters. */
  fail(failure: string | Failure, metadata?: Metadata): ToolFailure {
    const { message, ...more } = typeof failure === 'string' ? { message: failure } : failure;
    return new FailedResult(new ToolError('', message, more), metadata === undefined ? {} : { metadata });
  },
};

export function succeeded<T>(value: T, extras: GivenExtras): ToolResult<T> {
  return new Success(value, extras);
}

export function failed(toolName: string, failure: Failure, extras: GivenExtras): ToolFailure {
  const { message, ...more } = failure;
  return new FailedResult(new ToolError(toolName, message, more), extras);
}

/** The text of a value whose tool has no `render`: a string as it is, anything else as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return JSON.stringify(value, null, 2) ?? String(value);
}
