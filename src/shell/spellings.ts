/** Other spellings of the same use of a program. Options and words are separated by blanks. */
export interface Spellings {
  /** Options that take the next word. Of other options it is not known. */
  readonly takes?: string;
  /** Options that mean the same, with `|` between groups. */
  readonly same?: string;
  /** Words that may stand in front of a subcommand and add nothing: `docker container run`. */
  readonly groups?: string;
  /** Other names of a subcommand. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** It accepts the beginning of a subcommand's name. */
  readonly abbreviates?: true;
  /** Its long options have one dash, so letters behind a dash are no cluster. */
  readonly oneDash?: true;
}

const REMOVING: Spellings = { same: '-f --force|-r -R --recursive|-d --dir|-i --interactive' };
const GIVING: Spellings = { same: '-R --recursive|-f --silent --quiet' };
const CONTAINERS: Spellings = {
  takes: '-H -c -l --host --context --config --log-level --tlscacert --tlscert --tlskey',
  groups: 'container image',
  same: '-v --volume|-p --publish|-e --env|-u --user|-f --force|-a --all',
};
const CLUSTERS: Spellings = {
  takes: '-n -s -v --v --namespace --context --cluster --kubeconfig --user --token --server --as --request-timeout',
  same: '-n --namespace|-f --filename|-A --all-namespaces|-l --selector',
};
/** Programs whose long options have one dash. */
const ONE_DASH = /^(?:find|java|go|gcc|clang|terraform|openssl|ffmpeg)$/;

const PROGRAMS: Readonly<Record<string, Spellings>> = {
  git: {
    takes: '-C -c --git-dir --work-tree --namespace --exec-path --config-env --attr-source --super-prefix',
    same: '-f --force|-d --delete|-n --no-verify|-a --all|-u --set-upstream|-i --interactive',
    aliases: { push: 'send-pack http-push' },
  },
  npm: {
    takes: '-C -w --prefix --workspace --userconfig --globalconfig --registry --loglevel --cache --script-shell',
    same: '-g --global|-f --force|-D --save-dev|-w --workspace|-c --call',
    aliases: {
      install: 'i in ins inst insta instal isnt isnta isntal add',
      ci: 'clean-install ic install-clean isntall-clean',
      uninstall: 'un r rm remove unlink',
      update: 'up upgrade udpate',
      run: 'run-script rum urn',
      test: 't tst',
      exec: 'x',
      config: 'c',
      login: 'adduser add-user',
      owner: 'author',
    },
    abbreviates: true,
  },
  pnpm: {
    takes: '-C -F --dir --filter --filter-prod --reporter --loglevel',
    same: '-g --global|-D --save-dev|-r --recursive',
    aliases: { install: 'i', remove: 'rm uninstall un', update: 'up upgrade', run: 'run-script', test: 't' },
  },
  yarn: { takes: '--cwd --mutex --cache-folder --modules-folder' },
  cargo: {
    takes: '-C -Z --color --config',
    aliases: { build: 'b', check: 'c', test: 't', run: 'r', doc: 'd' },
  },
  docker: CONTAINERS,
  podman: CONTAINERS,
  kubectl: CLUSTERS,
  oc: CLUSTERS,
  helm: { takes: '-n --namespace --kube-context --kubeconfig' },
  rm: REMOVING,
  cp: REMOVING,
  mv: REMOVING,
  chmod: GIVING,
  chown: GIVING,
  chgrp: GIVING,
  curl: {
    same: '-X --request|-d --data|-o --output|-T --upload-file|-F --form|-H --header|-k --insecure|-u --user',
  },
  pip: { same: '-r --requirement|-e --editable|-U --upgrade' },
};

export function spellingsOf(program: string): Spellings {
  if (ONE_DASH.test(program)) return { oneDash: true };
  return (Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined) ?? {};
}

/** The options that mean the same as this one, if any are known. */
export function sameOptions(option: string, { same = '' }: Spellings): readonly string[] | undefined {
  return same
    .split('|')
    .map((group) => group.split(' '))
    .find((group) => group.includes(option));
}

export function isListed(word: string, list = ''): boolean {
  return list.split(' ').includes(word);
}

/** The position of git's subcommand behind its own options. */
export function gitSubcommandAt(args: readonly (string | null)[]): number {
  let at = 0;
  for (let word = args[at]; word?.startsWith('-'); word = args[at])
    at += isListed(word, PROGRAMS['git']?.takes) ? 2 : 1;
  return at;
}

/** Git's own subcommands in everyday use. Git looks for an alias for names that it does not have: any other name may be one. */
export const SUBCOMMANDS_OF_GIT: ReadonlySet<string> = new Set(
  `add am apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean clone commit
  commit-tree config count-objects describe diff diff-index diff-tree difftool fetch for-each-ref format-patch fsck gc grep hash-object
  help init lfs log ls-files ls-remote ls-tree maintenance merge merge-base merge-tree mergetool mv name-rev notes pull push range-diff
  read-tree rebase reflog remote rerere reset restore rev-list rev-parse revert rm shortlog show show-ref sparse-checkout stash status
  submodule switch symbolic-ref tag update-index update-ref var verify-commit version whatchanged worktree write-tree`.split(
    /\s+/,
  ),
);
