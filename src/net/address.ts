import { BlockList, isIP, isIPv4 } from 'node:net';

/** Every range outside the public internet, after the registries of special addresses (RFC 6890 and later ones). */
const SPECIAL_4: readonly (readonly [string, number, string])[] = [
  ['0.0.0.0', 8, 'this network'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'carrier-grade NAT'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local, where clouds keep their metadata'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'protocol assignments'],
  ['192.0.2.0', 24, 'documentation'],
  ['192.88.99.0', 24, '6to4 relays'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'benchmarking'],
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
];

const SPECIAL_6: readonly (readonly [string, number, string])[] = [
  ['::', 127, 'unspecified or loopback'],
  ['64:ff9b:1::', 48, 'local translation to IPv4'],
  ['100::', 64, 'discard'],
  ['2001::', 23, 'protocol assignments'],
  ['2001:db8::', 32, 'documentation'],
  ['3fff::', 20, 'documentation'],
  ['5f00::', 16, 'segment routing'],
  ['fc00::', 7, 'unique local'],
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'site-local'],
  ['ff00::', 8, 'multicast'],
];

/** Prefixes that carry an IPv4 address, and the group of 16 bits in which it begins. */
const CARRIERS: readonly (readonly [string, number, number])[] = [
  ['::ffff:0:0', 96, 6],
  ['::ffff:0:0:0', 96, 6],
  ['64:ff9b::', 96, 6],
  ['::', 96, 6],
  ['2002::', 16, 1],
];

/** Returns the kind of a special address, null for a public one. Anything that is not an address is not public. */
export function specialKind(address: string): string | null {
  const plain = withoutZone(address);
  if (isIPv4(plain)) return kindIn(SPECIAL_4, plain, 'ipv4');
  if (isIP(plain) !== 6) return 'not an address';
  const carried = carriedIPv4(plain);
  const kind = kindIn(SPECIAL_6, plain, 'ipv6');
  if (kind !== null) return kind;
  if (carried === null) return inRange(plain, '2000::', 3, 'ipv6') ? null : 'not assigned to the internet';
  const inner = specialKind(carried);
  return inner === null ? null : `${inner} (${carried} inside)`;
}

/** Whether an address is one of the listed ones: single addresses, or ranges such as `10.0.0.0/8`. */
export function isListed(address: string, listed: readonly string[]): boolean {
  const ranges = new BlockList();
  for (const entry of listed) addRange(ranges, entry);
  const plain = withoutZone(address);
  const family = isIP(plain);
  return family !== 0 && ranges.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/** Whether the entry is an address or a range. */
export function isRange(entry: string): boolean {
  return parseRange(entry) !== null;
}

function addRange(ranges: BlockList, entry: string): void {
  const range = parseRange(entry);
  if (range !== null) ranges.addSubnet(range.base, range.prefix, range.type);
}

function parseRange(entry: string): { base: string; prefix: number; type: 'ipv4' | 'ipv6' } | null {
  const [base = '', bits] = entry.replace(/^\[|\]$/g, '').split('/');
  const family = isIP(base);
  const most = family === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : /^\d+$/.test(bits) ? Number(bits) : -1;
  if (family === 0 || prefix < 0 || prefix > most) return null;
  return { base, prefix, type: family === 4 ? 'ipv4' : 'ipv6' };
}

function kindIn(table: typeof SPECIAL_4, address: string, family: 'ipv4' | 'ipv6'): string | null {
  return table.find(([base, bits]) => inRange(address, base, bits, family))?.[2] ?? null;
}

function carriedIPv4(address: string): string | null {
  const carrier = CARRIERS.find(([base, bits]) => inRange(address, base, bits, 'ipv6'));
  if (carrier === undefined) return null;
  const groups = groupsOf(address);
  const [high, low] = [groups[carrier[2]] ?? 0, groups[carrier[2] + 1] ?? 0];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

const known = new Map<string, BlockList>();

function inRange(address: string, base: string, bits: number, family: 'ipv4' | 'ipv6'): boolean {
  const key = `${base}/${bits}`;
  let range = known.get(key);
  if (range === undefined) {
    range = new BlockList();
    range.addSubnet(base, bits, family);
    known.set(key, range);
  }
  return range.check(address, family);
}

/** The eight groups of an IPv6 address that `isIP` has accepted. */
function groupsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text =
    dotted === null
      ? address
      : `${dotted[1]}${hex(Number(dotted[2]), Number(dotted[3]))}:${hex(Number(dotted[4]), Number(dotted[5]))}`;
  const [before = '', after] = text.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const middle = after === undefined ? [] : Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...middle, ...tail].map((group) => Number.parseInt(group, 16));
}

function hex(high: number, low: number): string {
  return ((high << 8) | low).toString(16);
}

function withoutZone(address: string): string {
  return address.split('%')[0] ?? '';
}
