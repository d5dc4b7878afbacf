/** One way to search. Pure: what to send, and what an answer means. */
export interface SearchProvider {
  readonly name: string;
  /** The variable that configures it, for messages. */
  readonly variable: string;
  readonly request: SearchRequest;
  /** The hits of an answer, as they came; undefined when it is not in the documented format. */
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

/** The objects of `answer[path[0]][path[1]]…`, or undefined when there is no such list. */
export function listAt(answer: unknown, ...path: string[]): readonly Record<string, unknown>[] | undefined {
  let at: unknown = answer;
  for (const name of path) at = (at as Record<string, unknown> | null | undefined)?.[name];
  if (!Array.isArray(at)) return undefined;
  return at.filter((each) => typeof each === 'object' && each !== null);
}
