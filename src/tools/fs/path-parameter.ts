import { z } from 'zod';

/** The advertised name, and aliases that models use too. */
export const PATH_ALIASES = { path: ['file_path', 'filePath', 'file', 'filename'] } as const;

export function pathParameter(what: string) {
  return z.string().describe(`${what}, relative to the workspace root`);
}
