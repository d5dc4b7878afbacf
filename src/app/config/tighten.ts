/**
 * What a workspace's own file may make of the user's value: the new value, or in words why it may not. A workspace is
 * somebody else's text, so it can take away and never give.
 */
export type Tighten<T> = (users: T, workspaces: T) => { value: T } | { refused: string };

/** Settings that are about the user or the machine, not about the workspace. */
export const neverFromWorkspace = (): { refused: string } => ({
  refused: "only the user can set it, with a flag, in the environment or in the user's own file",
});

/** What a workspace says is shown to the user, and changes nothing. */
export const onlyProposes = <T>(users: T): { value: T } => ({ value: users });

/** Lists of what is forbidden or asked about grow. */
export const addTo: Tighten<string[]> = (users, workspaces) => ({ value: [...new Set([...users, ...workspaces])] });

/** The same, where an entry behind `!` would give something free. */
export const hideMore: Tighten<string[]> = (users, workspaces) => {
  const lifted = workspaces.filter((pattern) => pattern.startsWith('!'));
  if (lifted.length > 0) return { refused: `only the user can lift ${lifted.join(', ')}` };
  return addTo(users, workspaces);
};

/** Lists of what is allowed shrink. */
export const subsetOf: Tighten<string[]> = (users, workspaces) => {
  const more = workspaces.filter((item) => !users.includes(item));
  if (more.length === 0) return { value: workspaces };
  return { refused: `the user does not allow ${more.join(', ')}` };
};

/** Limits go down; null is no limit. */
export function lower<T extends number | null>(users: T, workspaces: T): { value: T } | { refused: string } {
  if (workspaces === users) return { value: users };
  if (workspaces === null) return { refused: `the user's limit of ${users} cannot be lifted` };
  if (users === null || workspaces < users) return { value: workspaces };
  return { refused: `it cannot be above the user's ${users}` };
}

/** From each value, the ones that are tighter. */
export function oneOf<T extends string>(tighter: Record<T, readonly NoInfer<T>[]>): Tighten<T> {
  return (users, workspaces) => {
    if (users === workspaces || tighter[users].includes(workspaces)) return { value: workspaces };
    const options = tighter[users];
    const allowed = options.length === 0 ? 'it stays as it is' : `it can only become ${options.join(' or ')}`;
    return { refused: `the user chose ${users}, and from there ${allowed}` };
  };
}
