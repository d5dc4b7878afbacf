import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';

export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/** Chooses by the first byte: deflate should have a header, and many servers omit it. */
type Decoder = (first: number) => Transform;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
};

/** Decodes and counts bytes as they arrive, and reads no further than the limit. */
export async function readBody(
  body: Readable,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
): Promise<Result<Uint8Array>> {
  const decoder = decoderFor(headers);
  if (!decoder.ok) return decoder;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of decoded(body, decoder.value)) {
      length += chunk.length;
      if (length > maxBytes) return tooLarge(maxBytes, headers);
      chunks.push(chunk);
    }
  } catch (error) {
    return fail('NETWORK_ERROR', `The answer broke off after ${length} bytes: ${messageOf(error)}. Try again.`);
  } finally {
    body.destroy();
  }
  return ok(Buffer.concat(chunks, length));
}

/** Accepts one encoding at most: each further one multiplies the size a few bytes can reach. */
function decoderFor(headers: Readonly<Record<string, string>>): Result<Decoder | null> {
  const encodings = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== 'identity');
  const [encoding] = encodings;
  if (encoding === undefined || headers['content-length'] === '0') return ok(null);
  const create = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (encodings.length > 1 || create === undefined) {
    const what = encodings.length > 1 ? `${encodings.length} times` : `as ${encoding.slice(0, 40)}`;
    return fail('NETWORK_ERROR', `The answer is encoded as ${what}; only one of ${ACCEPTED_ENCODINGS} is supported.`);
  }
  return ok(create);
}

/** Decodes the body; an empty body is empty in every encoding. */
async function* decoded(body: Readable, decoder: Decoder | null): AsyncGenerator<Buffer> {
  const chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return;
  async function* all(): AsyncGenerator<Buffer> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  if (decoder === null) yield* all();
  else yield* pipeline(Readable.from(all()), decoder(first.value[0] ?? 0), () => {}) as AsyncIterable<Buffer>;
}

function tooLarge(maxBytes: number, headers: Readonly<Record<string, string>>): Result<never> {
  const type = headers['content-type'] ?? 'no content type';
  const what = `The answer is larger than ${Math.round(maxBytes / 1024)} KB when decoded (${type}).`;
  return fail('TOO_LARGE', `${what} Fetch a smaller page, or a part of it if the site offers one.`, { maxBytes });
}
