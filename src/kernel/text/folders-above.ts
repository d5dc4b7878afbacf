/** Returns the folders above a path, outermost first, without the root: `a` and `a/b` for `a/b/c`. */
export function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at));
  return folders;
}

/** Returns the folder of a path; empty for a path at the top. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
