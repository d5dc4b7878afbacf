/** The longest name that every store can index: PostgreSQL's indexes take about 2,700 bytes a row. */
const MAX_NAME_LENGTH = 256;
const KEPT_LENGTH = 160;

/** Text that every database can hold: PostgreSQL takes neither NUL nor half a surrogate pair. */
export function storableText(text: string): string {
  return mayBeUnstorable(text) ? text.replace(UNSTORABLE, '\ufffd') : text;
}

const UNSTORABLE = /[\0\p{Surrogate}]/gu;

/** Looks at single units, because it is on the path of every call: whole pairs are found too, and cost a second look. */
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
  if (name.length <= MAX_NAME_LENGTH && (!mayBeUnstorable(name) || storableText(name) === name)) return name;
  // Escaped first: half a pair has no bytes of its own, and all of them would give one hash.
  return `${storableText(name.slice(0, KEPT_LENGTH))}~${sha256(JSON.stringify(name))}`;
}
