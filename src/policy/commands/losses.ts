/** What programs other than git do that nothing takes back, told by their arguments; the word in brackets is what does it. */
const LOSSES: Readonly<Record<string, RegExp>> = {
  ...all('npm pnpm', /^(?:-\S+ (?:\S+ )?)*?((?:un)?pub\w*)(?: |$)/),
  yarn: /^(?:-\S+ (?:\S+ )?)*?(?:npm )?(publish)(?: |$)/,
  cargo: /^(?:[-+]\S+ (?:\S+ )?)*?(publish|yank)(?: |$)/,
  gem: /^(push|yank)(?: |$)/,
  ...all('twine flit', /^(upload|publish)(?: |$)/),
  ...all('poetry uv hatch pdm', /^(?:-\S+ (?:\S+ )?)*?(publish)(?: |$)/),
  ...all('terraform tofu pulumi', /(?:^| )(destroy|--?destroy)(?: |$)/),
  ...all('kubectl oc', /^(?:-\S+ (?:\S+ )?)*?(delete|drain)(?: |$)/),
  helm: /^(?:-\S+ (?:\S+ )?)*?(uninstall|delete)(?: |$)/,
  ...all('docker podman', /^(?:-\S+ (?:\S+ )?)*?(?:\S+ )?(prune)(?: |$)|^volume (rm|remove)(?: |$)/),
  gh: /^(?:repo|release|secret) (delete)(?: |$)/,
  aws: /(?:^| )(rb|(?:delete|terminate)-\S+)(?: |$)|(?:^| )s3 (rm)(?: .*)? --recursive/,
  ...all('dropdb dropuser', /^()/),
};

/** The word with which a program takes away or gives out what nothing takes back; undefined where it does not. */
export function lossBy(name: string, args: readonly string[]): string | undefined {
  const found = Object.hasOwn(LOSSES, name) ? LOSSES[name]?.exec(args.join(' ')) : undefined;
  return found == null ? undefined : found.slice(1).find(Boolean) || name;
}

function all(names: string, pattern: RegExp): Record<string, RegExp> {
  return Object.fromEntries(names.split(' ').map((name) => [name, pattern]));
}
