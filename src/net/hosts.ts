import { isIP } from 'node:net';

/** Normalizes a host for comparison: lower case, without brackets and trailing dot. */
export function normalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

/**
 * Whether `host:port` is on the list. Entries are `example.org`, `*.example.org` (names below it, not itself), either
 * with `:port`. Whole names are compared; an entry that would mean everything means nothing.
 */
export function isAllowedHost(host: string, port: number, entries: readonly string[]): boolean {
  const name = normalHost(host);
  return entries.some((entry) => {
    const parsed = parseEntry(entry);
    if (parsed === null || (parsed.port !== null && parsed.port !== port)) return false;
    return parsed.below ? name.endsWith(`.${parsed.name}`) && isIP(name) === 0 : name === parsed.name;
  });
}

/** Whether an entry names this port of the host, and not only the host. */
export function listsPort(host: string, port: number, entries: readonly string[]): boolean {
  return isAllowedHost(
    host,
    port,
    entries.filter((entry) => parseEntry(entry)?.port === port),
  );
}

/** Whether a host matches patterns of a rule: like entries, and `*` for every host. */
export function isAmong(host: string, port: number, patterns: readonly string[]): boolean {
  return patterns.includes('*') || isAllowedHost(host, port, patterns);
}

/** Returns the first invalid entry, such as `*` or a whole URL; null when all are valid. */
export function malformedHost(entries: readonly string[]): string | null {
  return entries.find((entry) => parseEntry(entry) === null) ?? null;
}

function parseEntry(entry: string): { name: string; port: number | null; below: boolean } | null {
  const found = /^(\*\.)?(\[[0-9a-f:.]+\]|[^:*/\s]+)(?::(\d{1,5}))?$/i.exec(entry.trim());
  if (found === null) return isIP(entry) === 6 ? { name: normalHost(entry), port: null, below: false } : null;
  const [, below, name = '', port] = found;
  if (below !== undefined && !name.includes('.')) return null;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return null;
  return { name: normalHost(name), port: port === undefined ? null : Number(port), below: below !== undefined };
}
