/** What every store can keep and look up: names are indexed, and PostgreSQL's indexes take about 2,700 bytes a row. */
const LONGEST_NAME = 256;
const KEPT_OF_LONG = 160;

/** Text that every database can hold: PostgreSQL takes neither NUL nor half a surrogate pair. */
export function storableText(text: string): string {
  return mayBeUnstorable(text) ? text.replace(UNSTORABLE, '\ufffd') : text;
}

const UNSTORABLE = /[\0\p{Surrogate}]/gu;

/** On the path of every call, so it looks at units alone: whole pairs are found too, and cost a second look. */
function mayBeUnstorable(text: string): boolean {
  return UNUSUAL.test(text);
}

const UNUSUAL = /[\0\ud800-\udfff]/;

/**
 * A caller's name for something (session, tool, key, agent, id) as every store keeps it and finds it by. Most are kept
 * as they are. One that is too long or cannot be stored keeps its beginning and gets its hash, so that two different
 * names never become the same.
 */
export function storedName(name: string, sha256: (text: string) => string): string {
  if (name.length <= LONGEST_NAME && (!mayBeUnstorable(name) || storableText(name) === name)) return name;
  // Escaped first: half a pair has no bytes of its own, and all of them would give one hash.
  return `${storableText(name.slice(0, KEPT_OF_LONG))}~${sha256(JSON.stringify(name))}`;
}
