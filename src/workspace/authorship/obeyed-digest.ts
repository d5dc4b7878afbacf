import { digestOf } from '../../host/file-version.ts';
import { isPlainObject } from '../../kernel/tool/check-arguments.ts';

/**
 * The hash of all that programs obey in a file. In package.json the versions of packages of the registry are left out, so that an
 * installation changes nothing of it: `npm install x` and `x` in that file do the same.
 */
export function obeyedDigest(path: string, bytes: Uint8Array): string {
  return digestOf(isManifest(path) ? (withoutVersions(bytes) ?? bytes) : bytes);
}

function isManifest(path: string): boolean {
  return /(?:^|\/)package\.json$/i.test(path);
}

const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
/** A range of versions or a tag, not a folder, an address or another package. */
const VERSION = /^[\w.^~<>=*| +-]{1,100}$/;

/** Undefined for a text that is no object, of which every byte counts. */
function withoutVersions(bytes: Uint8Array): Buffer | undefined {
  const manifest = parse(bytes);
  if (manifest === undefined) return undefined;
  const kept = Object.entries(manifest).flatMap(([key, value]) => {
    if (!DEPENDENCIES.includes(key) || !isPlainObject(value)) return [[key, value]];
    const others = Object.entries(value).filter(([, version]) => typeof version !== 'string' || !VERSION.test(version));
    return others.length === 0 ? [] : [[key, others.sort()]];
  });
  return Buffer.from(JSON.stringify(kept.sort()));
}

function parse(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
