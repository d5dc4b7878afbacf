import { type Failure, ToolError } from '../error.ts';
import type { Metadata } from '../result.ts';

/** What every result carries beside its value or error. */
interface Extras {
  readonly metadata: Metadata;
  /** Things the caller should know although the call went on, such as an unknown parameter. */
  readonly warnings: readonly string[];
  /** What the model reads: rendered and bounded. */
  readonly text: string;
  /** Null for a result that no call produced. */
  readonly callId: string | null;
  /** What a person reads: the output, or `Error: …`. */
  toDisplay(): string;
}

export interface ToolSuccess<T> extends Extras {
  readonly ok: true;
  readonly value: T;
  readonly success: true;
  readonly output: T;
  readonly error: null;
}

export interface ToolFailure extends Extras {
  readonly ok: false;
  readonly error: ToolError;
  readonly success: false;
  readonly value?: undefined;
  readonly output: null;
}

/** The library's answer to a call. Its own properties are plain data, so it goes into JSON as it is. */
export type ToolResult<T = unknown> = ToolSuccess<T> | ToolFailure;

/** The one empty metadata, so that «none» is a comparison. */
export const NO_METADATA: Metadata = Object.freeze({});
const NO_WARNINGS: readonly string[] = Object.freeze([]);

type Given = { readonly [K in Exclude<keyof Extras, 'toDisplay'>]?: Extras[K] | undefined };

class Success<T> implements ToolSuccess<T> {
  readonly ok = true as const;
  readonly value: T;
  readonly metadata: Metadata;
  readonly warnings: readonly string[];
  readonly text: string;
  readonly callId: string | null;

  constructor(value: T, extras: Given) {
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

  constructor(error: ToolError, extras: Given) {
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

export function succeeded<T>(value: T, extras: Given): ToolResult<T> {
  return new Success(value, extras);
}

export function failed(toolName: string, failure: Failure, extras: Given): ToolFailure {
  const { message, ...more } = failure;
  return new FailedResult(new ToolError(toolName, message, more), extras);
}

/** How a value reads when its tool does not say: a string as it is, the rest as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return JSON.stringify(value, null, 2) ?? String(value);
}
