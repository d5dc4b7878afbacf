import { describe, expect, test } from 'vitest';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import { createPolicy } from '../policy/create-policy.ts';
import type { Mode } from '../policy/mode.ts';
import { parseRules, type RuleSet } from '../policy/rules/parse-rules.ts';

const context = new ExecutionContext({ workingDir: '/home/ana/project' });

function verdict(command: string, mode: Mode, set: RuleSet = {}): string {
  const rules = parseRules(set);
  if (!rules.ok) throw new Error(rules.error.message);
  const policy = createPolicy({ mode, rules: rules.value, files: createFilePolicy(), home: '/home/ana' });
  const own = { tool: 'bash', args: {}, effect: 'once', ownReason: undefined, asksAlways: false, context } as const;
  return policy.decide({ ...own, access: [{ kind: 'process.run', command, writes: 'stage' }] }).verdict;
}

/** Ways to have another program run `%`; in the second list, to have a shell read it. */
const WORDS = [
  'doas %',
  'sudo -s %',
  'sudo --unheard-of %',
  'setsid -f %',
  'unshare -r %',
  'unshare --map-root-user --mount-proc %',
  'chroot / %',
  'nsenter -t 1 -m %',
  'systemd-run --user --unit x %',
  'pipx run %',
  'poetry run %',
  'poetry -C sub run %',
  'uv run --with x %',
  'uv --directory sub run %',
  'uvx %',
  'npx %',
  'npx -y -p x %',
  'npm exec -- %',
  'npm --prefix sub exec %',
  'npm x %',
  'bunx %',
  'pnpm dlx %',
  'pnpm -C sub exec %',
  'yarn exec %',
  'bundle exec %',
  'conda run -n env %',
  'ionice -c 3 %',
  'chrt -f 1 %',
  'stdbuf -oL %',
  'taskset -c 0 %',
  'strace -f -o x %',
  'strace --unheard-of=x %',
  'ltrace %',
  'gdb --args %',
  'perf stat -d %',
  'valgrind --tool=x %',
  'entr -r %',
  'flock lock %',
  'flock --nonblock lock %',
  'watch -x %',
  'busybox %',
  'firejail --quiet %',
  'direnv exec . %',
  'cross-env A=b %',
  'runuser -u x -- %',
  'env -S "%"',
  'env - %',
  'env -i - A=b %',
  'env a-b=1 %',
  'cross-env a-b=1 %',
  'jobs -x %',
  'jobs -rx %',
  'ssh-agent %',
  'ssh-agent -t 5 %',
  'logsave log %',
  'logsave -a log %',
  'faketime yesterday %',
  'eatmydata %',
  '/lib64/ld-linux-x86-64.so.2 %',
  '/lib/ld-musl-x86_64.so.1 --library-path /lib %',
  'git bisect run %',
  'tmux new-session -d %',
  'screen -dm %',
];
const SCRIPTS = [
  `watch '%'`,
  `watch -n 5 --unheard-of '%'`,
  `flock lock -c '%'`,
  `parallel '%' ::: a`,
  `parallel ::: '%'`,
  `sudo -i '%'`,
  `npx -c '%'`,
  `npm exec --call='%'`,
  `script -qc '%' log`,
  `su - root -c '%'`,
  `su -c '%'`,
  `sg root '%'`,
  `sg root -c '%'`,
  `nix-shell -p x --run '%'`,
  `tmux send-keys '%' Enter`,
  `screen -S x -X stuff '%'`,
  `hyperfine 'ls' '%'`,
  `concurrently '%' ls`,
  `git -c alias.x='!%' x`,
  `git submodule foreach '%'`,
  `git rebase -x '%' HEAD~2`,
  `vim -c ':!%'`,
  `gdb -batch -ex 'shell %'`,
  `zsh -c '%'`,
  `csh -c '%'`,
  `bash --rcfile x -c '%'`,
  `bash -ce '%'`,
  `busybox sh -c '%'`,
  `echo '%' | at now`,
  `batch <<< '%'`,
  `tar cf x --checkpoint=1 --checkpoint-action='exec=%' y`,
  `rsync -e '%' a b:c`,
  `eval "%" "$X"`,
];
const WAYS = [...WORDS, ...SCRIPTS];
/** The same on another machine or in a container. */
const ELSEWHERE = [
  'docker run -it --rm -v a:b image %',
  'docker compose exec web %',
  'docker container exec box %',
  'kubectl -n x exec pod -- %',
  'ssh -p 22 host %',
  `ssh host '%'`,
  `docker run --rm image bash -c '%'`,
  'docker exec -i web bash <<E\n%\nE',
  'adb shell %',
];

describe('what another program starts meets the floors and the rules that hold back', () => {
  test.each(WAYS)('%s', (way) => {
    const given = (command: string) => way.replace('%', command);
    expect(verdict(given('rm -rf /'), 'auto')).toBe('deny');
    expect(verdict(given('git push origin main'), 'auto', { deny: ['bash(git push *)'] })).toBe('deny');
    expect(verdict(given('git push origin main'), 'auto', { ask: ['bash(git push *)'] })).toBe('ask');
  });
});

describe('what runs on another machine or in a container meets the rules that hold back; what one folder loses is asked about', () => {
  test.each(ELSEWHERE)('%s', (way) => {
    const given = (command: string) => way.replace('%', command);
    expect(verdict(given('rm -rf /'), 'auto')).toBe('deny');
    expect(verdict(given('rm -rf /etc'), 'auto')).toBe('deny');
    expect(verdict(given('rm -rf /'), 'auto', { deny: ['bash(rm *)'] })).toBe('deny');
    expect(verdict(given('rm -rf /var/cache/nginx'), 'auto')).toBe('ask');
    expect(verdict(given('ls /etc'), 'auto')).toBe('allow');
    expect(verdict(given('git push origin main'), 'auto', { deny: ['bash(git push *)'] })).toBe('deny');
    expect(verdict(given('git push origin main'), 'auto', { ask: ['bash(git push *)'] })).toBe('ask');
  });

  test('what an option of ssh has run is run here', () => {
    expect(verdict(`ssh -o 'ProxyCommand=rm -rf /' host`, 'auto')).toBe('deny');
  });

  test('where it goes there is not where the next command is', () => {
    expect(verdict('ssh host "cd /etc && ls"; rm -rf dist', 'auto')).toBe('allow');
  });
});

describe('a text in code', () => {
  test.each([`python3 -c "print('npm publish done')"`, `awk 'BEGIN { print "find / -delete" }'`])(
    'that is only printed is not refused: %s',
    (command) => {
      expect(verdict(command, 'auto', { deny: ['bash(npm publish *)'] })).not.toBe('deny');
    },
  );

  test('that is given to a shell is', () => {
    const code = `python3 -c "import os; os.system('npm publish')"`;
    expect(verdict(code, 'auto', { deny: ['bash(npm publish *)'] })).toBe('deny');
    expect(verdict(`awk 'BEGIN { "find / -delete" | getline }'`, 'auto')).toBe('deny');
  });
});

test('several inputs of parallel are each looked at', () => {
  expect(verdict('parallel rm -rf ::: dist /usr', 'auto')).toBe('deny');
  expect(verdict('ls | parallel rm -rf', 'auto', { deny: ['bash(rm *)'] })).not.toBe('allow');
});

test('what they start in the ordinary way is none of that', () => {
  for (const command of [
    'npx vitest run',
    'npx -y create-vite app',
    'uv run pytest -q',
    'poetry run python x.py',
    'npm exec -- eslint .',
    'docker compose up -d',
    'docker run --rm -v a:/b image npm test',
    `watch -n 1 'ls -l'`,
    'tar czf x.tgz src',
    'rsync -a src/ dst/',
    'git rebase -i HEAD~2',
  ])
    expect([command, verdict(command, 'auto')]).toEqual([command, 'allow']);
});

test('a rule for a launcher answers for what it starts, as far as nothing holds that back', () => {
  const allow = ['bash(npx vitest *)', 'bash(npx *)'];
  expect(verdict('npx vitest run', 'ask', { allow })).toBe('allow');
  expect(verdict('npx git push --force', 'ask', { allow })).toBe('ask');
  expect(verdict('npx git push', 'ask', { allow, deny: ['bash(git push *)'] })).toBe('deny');
});

test('git that only reads is still known to, whatever its words are called', () => {
  for (const command of ['git grep run foo', 'git log run', 'git log -- foreach x'])
    expect([command, verdict(command, 'ask')]).toEqual([command, 'allow']);
});

test('launchers in launchers end soon, and a rule is met behind all of them', () => {
  const chain = `${'npx -a '.repeat(1000)}x`;
  const started = performance.now();
  const deny = ['bash(deploy *)'];
  expect(verdict(chain, 'auto', { deny })).toBe('allow');
  expect(verdict(chain.replace(/x$/, 'deploy x'), 'auto', { deny })).toBe('deny');
  expect(verdict(`${'sudo --odd '.repeat(1000)}x`, 'auto', { deny })).toBe('ask');
  expect(verdict(`npm ${'-a '.repeat(10_000)}x`, 'auto')).toBe('allow');
  expect(performance.now() - started).toBeLessThan(20_000);
});

test('code full of quotes that nothing closes is read once', () => {
  const code = `"${'\\"'.repeat(4900)}`;
  const started = performance.now();
  verdict(`python3 ${Array(9).fill(`'${code}'`).join(' ')}`, 'auto');
  expect(performance.now() - started).toBeLessThan(1000);
});

test.each([
  ['pip install *', 'pip3 install x'],
  ['pip install *', 'pip3.11 install x'],
  ['pip install *', 'python3 -m pip install x'],
  ['pip install *', 'python3 -Im pip install x'],
  ['pip install *', 'python3 -mpip install x'],
  ['pip install *', 'uv pip install x'],
  ['git push *', `node -e "require('child_process').spawnSync('git',['push'])"`],
  ['git push *', 'python3 <<E\nimport os\nos.system("git push")\nE'],
  ['git push *', 'node <<E\nrequire("child_process").execSync("git push")\nE'],
  ['git push *', 'git -c core.pager="git push" log'],
  ['git push *', 'GIT_EDITOR="git push" git commit'],
  ['git push *', 'setarch x86_64 git push'],
  ['git push *', 'setarch -R git push'],
  ['git push *', '/usr/lib/git-core/git-push'],
  ['curl -X POST *', 'curl -sXPOST u'],
])('a rule that refuses bash(%s) is not got around by "%s"', (rule, command) => {
  expect(verdict(command, 'auto', { deny: [`bash(${rule})`] })).toBe('deny');
});

test('what is near to what a rule refuses is left alone', () => {
  const deny = ['bash(pip install *)', 'bash(git push *)', 'bash(curl -X POST *)'];
  for (const command of [
    'pip3 list',
    'python3 -m pytest',
    'uv run pytest',
    'git -c core.pager=cat log',
    'curl -sXGET u',
  ])
    expect([command, verdict(command, 'auto', { deny })]).toEqual([command, verdict(command, 'auto')]);
});
