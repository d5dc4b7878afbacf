import { z } from 'zod';

/** One name is advertised; models write the others too. */
export const PATH_ALIASES = { path: ['file_path', 'filePath', 'file', 'filename'] } as const;

export function pathParameter(what: string) {
  return z.string().describe(`${what}, relative to the workspace root`);
}
