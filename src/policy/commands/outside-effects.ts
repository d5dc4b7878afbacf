import { operandsAmong, plainWord } from '../../shell/words.ts';
import { type CommandPattern, commandPattern } from '../rules/command-pattern.ts';
import type { KnownWord } from '../rules/word-pattern.ts';
import { NETWORK, OUTSIDE_EFFECT } from './command-judgement.ts';

/** An effect that no stage holds back: it leaves this machine, or reaches programs and services beside the workspace. */
export interface OutsideEffect {
  readonly rule: typeof NETWORK | typeof OUTSIDE_EFFECT;
  readonly reason: string;
}

/** Programs that need the network, with any arguments. */
const NETWORK_PROGRAMS = words(`
  curl wget http https xh aria2c lynx w3m ssh scp sftp ftp lftp mosh telnet nc ncat socat ping dig nslookup host whois traceroute
  sendmail mail uvx rustup mvn mvnw gradle gradlew sbt`);

/** Programs that act outside the workspace: containers, clusters, clouds, databases, the system and its packages. */
const OUTSIDE_PROGRAMS = words(`
  docker docker-compose podman nerdctl buildah skopeo kubectl oc helm minikube terraform tofu terragrunt pulumi ansible
  ansible-playbook vagrant packer aws gcloud gsutil az gh glab heroku fly flyctl vercel netlify firebase wrangler serverless doctl
  psql pg_dump pg_restore createdb dropdb createuser dropuser mysql mysqldump mysqladmin mariadb redis-cli mongo mongosh mongodump
  mongorestore sqlcmd sqlplus cqlsh clickhouse-client
  systemctl service launchctl crontab at batch sudo doas su pkexec mount umount
  brew apt apt-get aptitude dpkg dnf yum rpm apk pacman zypper snap flatpak port nix-env twine flit`);

/** Subcommands that need the network; `+` joins the words of one. */
const NETWORK_USES: Readonly<Record<string, string>> = {
  git: `push fetch pull clone ls-remote fetch-pack send-pack http-fetch http-push send-email imap-send svn remote+update
    remote+show remote+prune submodule+update submodule+add subtree+push subtree+pull subtree+add lfs+fetch lfs+pull lfs+push lfs+clone`,
  npm: `install install-test ci update publish unpublish view show info audit login logout whoami search outdated deprecate
    dist-tag owner access token ping create dedupe`,
  pnpm: 'install add update publish dlx create audit outdated login view fetch self-update',
  yarn: 'install add up upgrade publish dlx create npm audit outdated info global',
  bun: 'install add update publish x create outdated upgrade',
  deno: 'install add cache publish upgrade',
  pip: 'install download wheel search index',
  pipx: 'install inject run upgrade upgrade-all',
  uv: 'sync add lock publish pip+install pip+sync pip+compile tool+install tool+run tool+upgrade python+install self',
  poetry: 'install add update lock publish self',
  pdm: 'install add update lock sync publish',
  hatch: 'publish',
  conda: 'install create update env',
  mamba: 'install create update env',
  cargo: 'fetch install publish update add search login owner yank',
  go: 'get install mod+download mod+tidy',
  gem: 'install update push fetch yank',
  bundle: 'install update add outdated',
  composer: 'install update require create-project',
  dotnet: 'restore add+package tool+install tool+update nuget+push',
  flutter: 'pub upgrade',
  dart: 'pub',
  mix: 'deps.get deps.update hex.publish',
  pod: 'install update',
};

/** The uses of each program, with the patterns that find them. */
const PATTERNS: ReadonlyMap<string, readonly { text: string; pattern: CommandPattern }[]> = new Map(
  Object.entries(NETWORK_USES).map(([program, uses]) => {
    const texts = [...words(uses)].map((use) => `${program} ${use.replaceAll('+', ' ')}`);
    return [program, texts.map((text) => ({ text, pattern: commandPattern(`${text} *`) }))];
  }),
);

/** Programs that install when they are given nothing to do. */
const INSTALL_ALONE = words('yarn bundle');

/** Programs that can be told to do without the network. */
const OFFLINE = words('mvn mvnw gradle gradlew');

/**
 * Returns the effect that a command has outside its stage, in every spelling that deny rules know; undefined where it has
 * none, or where that depends on words known only at run time: without a yes it then finds no network.
 */
export function outsideEffect(given: readonly KnownWord[]): OutsideEffect | undefined {
  const [word, ...args] = given;
  if (word === undefined || word === null || asksOnlyForHelp(args)) return undefined;
  const program = word.replace(/^.*\//s, '').replace(/^(pip|python)[\d.]+$/, '$1');
  if (OUTSIDE_PROGRAMS.has(program))
    return { rule: OUTSIDE_EFFECT, reason: `${program} acts outside the workspace, where nothing can be undone.` };
  if (NETWORK_PROGRAMS.has(program)) {
    const isOffline = OFFLINE.has(program) && args.some((arg) => arg === '-o' || arg === '--offline');
    return isOffline ? undefined : network(program);
  }
  if (program === 'rsync') return args.some(isRemotePlace) ? network(program) : undefined;
  if (program === 'npx' || program === 'bunx') return downloadsPackage(args) ? network(program) : undefined;
  if (INSTALL_ALONE.has(program) && args.every((arg) => arg?.startsWith('-'))) return network(program);
  const used = PATTERNS.get(program)?.find(({ pattern }) => pattern.certainty(given) === 'yes');
  return used && network(used.text);
}

function network(what: string): OutsideEffect {
  return { rule: NETWORK, reason: `${what} uses the network.` };
}

function asksOnlyForHelp(args: readonly KnownWord[]): boolean {
  return args.length > 0 && args.length < 3 && /^(--?version|-[vV]|--?help|-h)$/.test(args.at(-1) ?? '');
}

/** `host:path`, `user@host:path`, `rsync://host/path`. */
function isRemotePlace(arg: KnownWord): boolean {
  return arg !== null && !arg.startsWith('-') && /^[^/]+:/.test(arg);
}

/** Whether it names a package to fetch: `npx tsc` runs a program of the project, and `npx -y create-app@latest` does not. */
function downloadsPackage(args: readonly KnownWord[]): boolean {
  const known = args.map((arg) => plainWord(arg ?? ''));
  const [first] = operandsAmong(known);
  const own = first === undefined ? known : known.slice(0, known.indexOf(first));
  if (own.some(({ seen }) => /^(-y|--yes|-p|--package(=.*)?)$/.test(seen))) return true;
  return first !== undefined && /^create-|.@/.test(first.seen);
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
