import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import type { Result } from '../../kernel/result.ts';

export type ResourceContent = ReadResourceResult['contents'][number];

/**
 * Resources a client can read besides calling tools. Reading is a call like any other: judged, approved and recorded.
 */
export interface Resources {
  readonly templates: readonly ResourceTemplateType[];
  list(): ResourceReading<readonly Resource[]>;
  read(uri: string): ResourceReading<readonly ResourceContent[]>;
  /** Reports the URI of a changed resource. Returns a function that unsubscribes. */
  watch?(listener: (uri: string) => void): () => void;
  /** Starts watching for changes that were not made by our own calls. */
  observe?(): void;
}

/** A ready result, or the call that gets it: the server runs that call because it knows the client and its request. */
export type ResourceReading<T> = Promise<Result<T>> | ReadingCall<T>;

export interface ReadingCall<T> {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Converts the tool's value to the client's answer. */
  toAnswer(value: unknown): T;
}
