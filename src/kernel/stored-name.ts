/** What every store can keep and look up: names are indexed, and PostgreSQL's indexes take about 2,700 bytes a row. */
const LONGEST_NAME = 256;
const KEPT_OF_LONG = 160;

/** Text that every database can hold: PostgreSQL takes neither NUL nor half a surrogate pair. */
export function storableText(text: string): string {
  return UNSTORABLE.test(text) ? text.replace(UNSTORABLE_ALL, '\ufffd') : text;
}

const UNSTORABLE = /[\0\p{Surrogate}]/u;
const UNSTORABLE_ALL = /[\0\p{Surrogate}]/gu;

/**
 * A caller's name for something (session, tool, key, agent, id) as every store keeps it and finds it by. Most are kept
 * as they are. One that is too long or cannot be stored keeps its beginning and gets its hash, so that two different
 * names never become the same.
 */
export function storedName(name: string, sha256: (text: string) => string): string {
  if (name.length <= LONGEST_NAME && !UNSTORABLE.test(name)) return name;
  // Escaped first: half a pair has no bytes of its own, and all of them would give one hash.
  return `${storableText(name.slice(0, KEPT_OF_LONG))}~${sha256(JSON.stringify(name))}`;
}
