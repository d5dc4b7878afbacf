import { type FoundSecret, findSecrets, PASSWORD } from './find-secrets.ts';
import { randomValues, tellsOfSecrets } from './telling-files.ts';

/** Programs and their documents: a short value there is a name or an example more often than a password. */
const CODE_OR_TEXT =
  /\.(?:[cm]?[jt]sx?|vue|svelte|go|rs|py|rb|java|kt|kts|scala|c|h|cc|cpp|hpp|cs|swift|php|ex|exs|lua|pl|dart|md|mdx|rst|txt|adoc|html?|css|scss|ipynb|snap|lock)$|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml)$/i;
/** Settings for trying something out: what they hold opens nothing. A key or a token counts there too. */
const EXAMPLE = /(?:^|[._-])(?:example|sample|template|dist|schema|tmpl)(?:[._-]|$)/i;
const TRANSLATION = /(?:^|\/)(?:locales?|i18n|lang|translations?)\//i;

/**
 * Returns the first secret that a file holds by its content, whatever its name; the name tells how a doubtful value is read. With `from`
 * and `to` only those of which a part stands between these positions.
 */
export function secretIn(path: string, bytes: Buffer, { from = 0, to = bytes.length } = {}): FoundSecret | undefined {
  const text = textOf(bytes);
  for (const found of secretsIn(path, text)) if (found.start < to && found.end > from) return found;
  return undefined;
}

/** All of them. One may stand in another. */
export function* secretsIn(path: string, text: string): Generator<FoundSecret> {
  const isDoubtful = isPasswordDoubtful(path);
  for (const found of findSecrets(text)) if (!(isDoubtful && found.name === PASSWORD)) yield found;
  if (tellsOfSecrets(path)) yield* randomValues(text);
}

/** Whether two names of one file let its content be read in the same way. */
export function isReadAlike(path: string, other: string): boolean {
  return isPasswordDoubtful(path) === isPasswordDoubtful(other) && tellsOfSecrets(path) === tellsOfSecrets(other);
}

function isPasswordDoubtful(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return CODE_OR_TEXT.test(name) || EXAMPLE.test(name) || TRANSLATION.test(path);
}

/** Bytes as characters, so that what is no text is looked into as well. */
export function textOf(bytes: Buffer): string {
  const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return isWide ? bytes.toString('latin1').replaceAll('\0', '') : bytes.toString('latin1');
}
