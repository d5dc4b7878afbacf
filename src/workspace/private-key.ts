/** In every file that holds one, as bytes. */
export const MARK = 'PRIVATE KEY';
const KEY =
  /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----\s+(?:[A-Za-z0-9+/=_-]{8,}|Proc-Type:|Version:|Comment:)/;

/** Key material in a file with an innocent name. The words without a key behind them, as in source code, are none. */
export function holdsPrivateKey(bytes: Buffer): boolean {
  return bytes.includes(MARK) && KEY.test(bytes.toString('latin1'));
}
