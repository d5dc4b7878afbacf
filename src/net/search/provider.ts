/** One search provider. Pure: the request to send, and how to read the answer. */
export interface SearchProvider {
  readonly name: string;
  /** The variable that configures it, for messages. */
  readonly variable: string;
  readonly request: SearchRequest;
  /** Returns the hits unchecked; undefined when the answer is not in the documented format. */
  hits(answer: unknown): readonly RawHit[] | undefined;
}

export interface SearchRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface RawHit {
  readonly title: unknown;
  readonly url: unknown;
  readonly snippet: unknown;
}

/** Returns the objects of `answer[path[0]][path[1]]…`, or undefined when there is no such list. */
export function listAt(answer: unknown, ...path: string[]): readonly Record<string, unknown>[] | undefined {
  let at: unknown = answer;
  for (const name of path) at = (at as Record<string, unknown> | null | undefined)?.[name];
  if (!Array.isArray(at)) return undefined;
  return at.filter((each) => typeof each === 'object' && each !== null);
}
