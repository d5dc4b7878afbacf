import { createHash } from 'node:crypto';
import type { Access } from '../kernel/access.ts';
import type { ExecutionContext } from '../kernel/execution-context.ts';
import type { Witness } from '../kernel/ports.ts';
import type { Caller, Files, World } from '../kernel/workspace.ts';
import { operandsOf } from '../policy/commands/operands.ts';

/** Above this a file is known by its size alone: hashing it would keep a person waiting. */
const HASHED_BYTES = 16 * 1024 * 1024;
const LISTED_ENTRIES = 2000;

/**
 * Fingerprints of the files a call names, so that a yes to `node build.js` is none to another build.js, and a yes to a
 * diff is none to the same change of another text.
 */
export function createWitness(world: World): Witness {
  return async (access, context) => {
    const { files } = world.open(observer(context));
    const seen: Record<string, string> = {};
    for (const { path, deep } of access.flatMap(placesOf)) seen[path] ??= await fingerprint(files, path, deep);
    return seen;
  };
}

function placesOf(access: Access): { path: string; deep: boolean }[] {
  switch (access.kind) {
    case 'fs.read':
    case 'fs.write':
      return [{ path: access.path, deep: false }];
    case 'fs.delete':
      return [{ path: access.path, deep: access.recursive === true }];
    case 'process.run':
      return operandsOf(access.command).map((path) => ({ path, deep: false }));
    case 'net.fetch':
    case 'net.search':
    case 'unknown':
      return [];
  }
}

async function fingerprint(files: Files, path: string, deep: boolean): Promise<string> {
  const found = files.inspect(path);
  if (!found.ok) return found.error.code;
  const { type, size } = found.value;
  if (type === null) return 'absent';
  if (type === 'file' && size <= HASHED_BYTES) {
    const read = await files.readBytes(path, HASHED_BYTES);
    return read.ok ? read.value.version : read.error.code;
  }
  if (type === 'directory' && deep) return listing(files, path);
  return type === 'file' ? `${size} bytes` : `${type} ${found.value.path}`;
}

async function listing(files: Files, path: string): Promise<string> {
  const listed = await files.list(path, { recursive: true, includeHidden: true, limit: LISTED_ENTRIES });
  if (!listed.ok) return listed.error.code;
  const names = listed.value.entries.map(({ name, type, size, modified }) => [name, type, size, modified]);
  return createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 32);
}

/** Looks, and may change nothing. */
function observer({ workingDir, timeout, sessionId }: ExecutionContext): Caller {
  return {
    callId: 'witness',
    // Not the call's own: that a person was shown a file does not mean that the model has read it.
    session: `witness:${sessionId ?? ''}`,
    workingDir,
    timeout,
    signal: new AbortController().signal,
    admitted: null,
  };
}
