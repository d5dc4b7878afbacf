import type { IncomingMessage } from 'node:http';
import { messageOf } from '../kernel/error.ts';
import type { HttpFailure } from './problem.ts';

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_DEPTH = 64;

/**
 * Returns the JSON of a request body, `undefined` for an empty one, or why it is refused. Reads no further than the
 * limit.
 */
export async function readBody(request: IncomingMessage): Promise<{ value: unknown } | { trouble: HttpFailure }> {
  const { headers } = request;
  const length = Number(headers['content-length'] ?? Number.NaN);
  if (length === 0 || (Number.isNaN(length) && headers['transfer-encoding'] === undefined)) return { value: undefined };
  if (length > MAX_BODY_BYTES) {
    request.resume();
    return tooLarge();
  }
  const type = headers['content-type'] ?? 'application/json';
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    return failure('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON: send Content-Type: application/json.');
  }
  const bytes = await collect(request);
  if (bytes === undefined) return tooLarge();
  const text = bytes.toString('utf8');
  if (isTooDeep(text)) return failure('INVALID_INPUT', `The body is nested deeper than ${MAX_DEPTH} levels.`);
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return failure('INVALID_INPUT', `The body is not JSON${placeOf(error)}.`);
  }
}

function collect(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) {
        chunks.push(chunk);
        return;
      }
      // The rest is read and discarded, so that the response reaches a client that is still sending.
      request.removeAllListeners('data').resume();
      chunks.length = 0;
      resolve(undefined);
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(new Error('the request was broken off'));
    });
  });
}

/** Checks the depth before parsing, because the parser and later steps recurse. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** Returns only the position, because the parser's message quotes the body. */
function placeOf(error: unknown): string {
  const position = / at position (\d+)/.exec(messageOf(error))?.[1];
  return position === undefined ? '' : ` (position ${position})`;
}

function tooLarge() {
  return failure('TOO_LARGE', `The body is larger than ${MAX_BODY_BYTES / 1024 / 1024} MB: send less at once.`);
}

function failure(code: HttpFailure['code'], message: string): { trouble: HttpFailure } {
  return { trouble: { code, message } };
}
