import { findSecrets } from './find-secrets.ts';
import { isPlaceholder } from './secret-likeness.ts';
import { isSecretKey } from './secret-names.ts';

/** Larger files with such names are not looked into: they stay secret by their name. */
export const MAX_PUBLIC_BYTES = 256 * 1024;

/**
 * Whether a file that could be a secret by its name holds none: certificates and public keys alone, or settings of which no value is
 * telling. Content that is understood in neither way counts as secret.
 */
export function isPublicContent(bytes: Buffer): boolean {
  if (bytes.length > MAX_PUBLIC_BYTES || bytes.includes(0)) return false;
  const text = bytes.toString('latin1');
  return findSecrets(text).length === 0 && (isPublicPem(text) || isHarmlessSettings(text));
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----[A-Za-z0-9+/=\s]*-----END \1-----/g;
const PUBLIC_BLOCK =
  /^(?:(?:X509 |TRUSTED )?CERTIFICATE|(?:NEW )?CERTIFICATE REQUEST|X509 CRL|(?:RSA |EC )?PUBLIC KEY|(?:DH|EC|X9\.42 DH) PARAMETERS|PKCS7)$/;

/** Around the blocks `openssl` writes about them, in lines with blanks or a sign; a bare word could be a key. */
function isPublicPem(text: string): boolean {
  const kinds = [...text.matchAll(BLOCK)].map(([, kind = '']) => kind);
  if (kinds.length === 0 || !kinds.every((kind) => PUBLIC_BLOCK.test(kind))) return false;
  return text
    .replace(BLOCK, '')
    .split('\n')
    .every((line) => line.trim() === '' || line.startsWith('#') || (/\s/.test(line.trim()) && !line.includes('-----')));
}

const SETTING = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|(.*?))\s*$/;

function isHarmlessSettings(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  return lines.every((line) => {
    const setting = SETTING.exec(line);
    if (setting === null) return false;
    const [, name = '', double, single, bare = ''] = setting;
    return isHarmlessValue(name, double ?? single ?? bare);
  });
}

const ORDINARY_VALUE =
  /^(?:[A-Za-z_,. -]{0,40}|[\d.,:]+|\.{0,2}\/[\w./-]*|[a-z][a-z0-9+]*:\/\/[a-z0-9.-]+(?::\d+)?(?:\/[\w./-]*)?)$/;

function isHarmlessValue(name: string, value: string): boolean {
  return value === '' || isPlaceholder(value) || (!isSecretKey(name) && ORDINARY_VALUE.test(value));
}
