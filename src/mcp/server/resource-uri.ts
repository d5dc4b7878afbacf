/** `src/a b.ts` ↔ `workspace:///src/a%20b.ts`: a file of the workspace, without the folder's own path. */
export function fileUri(path: string): string {
  const relative = path.replace(/^\.?\/+/, '');
  return `${FILES}${relative.split('/').map(encodeURIComponent).join('/')}`;
}

export function outputUri(handle: string): string {
  return `${OUTPUTS}${encodeURIComponent(handle)}`;
}

const FILES = 'workspace:///';
const OUTPUTS = 'output:///';

export type ResourceName =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'output'; readonly handle: string };

/** Returns undefined for a foreign URI. The path is checked when the file is opened. */
export function readUri(uri: string): ResourceName | undefined {
  try {
    if (uri.startsWith(FILES)) return { kind: 'file', path: decodeURIComponent(uri.slice(FILES.length)) };
    if (uri.startsWith(OUTPUTS)) return { kind: 'output', handle: decodeURIComponent(uri.slice(OUTPUTS.length)) };
    return undefined;
  } catch {
    return undefined;
  }
}

export const FILE_TEMPLATE = `${FILES}{+path}`;
export const OUTPUT_TEMPLATE = `${OUTPUTS}{handle}`;
