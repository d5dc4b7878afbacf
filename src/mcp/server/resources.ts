import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import type { Result } from '../../kernel/result.ts';

export type ResourceContent = ReadResourceResult['contents'][number];

/** What a client can read beside calling tools. Reading is a call like any other: judged, asked about and recorded. */
export interface Resources {
  readonly templates: readonly ResourceTemplateType[];
  list(): Reading<readonly Resource[]>;
  read(uri: string): Reading<readonly ResourceContent[]>;
  /** Tells the uri of what changed. Returns how to stop. */
  watch?(listener: (uri: string) => void): () => void;
  /** Somebody wants to hear of changes: from now on also of those that no call of ours made. */
  observe?(): void;
}

/** What is there already, or the call that gets it: the door runs that, as it knows the client and its request. */
export type Reading<T> = Promise<Result<T>> | ReadingCall<T>;

export interface ReadingCall<T> {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the client gets of the value the tool gave. */
  toAnswer(value: unknown): T;
}
