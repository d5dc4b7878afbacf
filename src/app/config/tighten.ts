/**
 * Combines the user's value with that of the workspace file: returns the new value, or in words why it is refused. A
 * workspace is foreign text, so it can take away and never grant.
 */
export type Tighten<T> = (users: T, workspaces: T) => { value: T } | { refused: string };

/** For settings of the user or the machine, not of the workspace. */
export const neverFromWorkspace = (): { refused: string } => ({
  refused: "only the user can set it, with a flag, in the environment or in the user's own file",
});

/** The value of the workspace is shown to the user and has no effect. */
export const onlyProposes = <T>(users: T): { value: T } => ({ value: users });

/** For lists that forbid or ask: they only grow. */
export const addTo: Tighten<string[]> = (users, workspaces) => ({ value: [...new Set([...users, ...workspaces])] });

/** `addTo` for a list in which an entry with `!` would grant access. */
export const hideMore: Tighten<string[]> = (users, workspaces) => {
  const lifted = workspaces.filter((pattern) => pattern.startsWith('!'));
  if (lifted.length > 0) return { refused: `only the user can lift ${lifted.join(', ')}` };
  return addTo(users, workspaces);
};

/** For lists that allow: they only shrink. */
export const subsetOf: Tighten<string[]> = (users, workspaces) => {
  const more = workspaces.filter((item) => !users.includes(item));
  if (more.length === 0) return { value: workspaces };
  return { refused: `the user does not allow ${more.join(', ')}` };
};

/** For limits, which are only lowered; null is no limit. */
export function lower<T extends number | null>(users: T, workspaces: T): { value: T } | { refused: string } {
  if (workspaces === users) return { value: users };
  if (workspaces === null) return { refused: `the user's limit of ${users} cannot be lifted` };
  if (users === null || workspaces < users) return { value: workspaces };
  return { refused: `it cannot be above the user's ${users}` };
}

/** `tighter` lists for each value the tighter ones. */
export function oneOf<T extends string>(tighter: Partial<Record<T, readonly NoInfer<T>[]>>): Tighten<T> {
  return (users, workspaces) => {
    const options = tighter[users] ?? [];
    if (users === workspaces || options.includes(workspaces)) return { value: workspaces };
    const allowed = options.length === 0 ? 'it stays as it is' : `it can only become ${options.join(' or ')}`;
    return { refused: `the user chose ${users}, and from there ${allowed}` };
  };
}
