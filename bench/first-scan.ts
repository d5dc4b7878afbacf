import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../src/host/remove-tree.ts';
import { createFilePolicy } from '../src/kernel/world/file-policy.ts';
import { createTreeScan } from '../src/sandbox/protected-paths/tree-scan.ts';
import { atMost, type Benchmark, type Measurement, median, reported } from './benchmark.ts';

const SMALL_FILES = 20_000;
const COPIES = 40;
const ROUNDS = 5;

export const benchmark: Benchmark = {
  about:
    'the first look for secrets into the files of a workspace, beside reading all of them once, and the later ones',
  async run() {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'bench-scan-')));
    try {
      return [...(await measure(root, 'sources', sources(root))), ...(await measure(root, 'small files', small(root)))];
    } finally {
      removeTree(root);
    }
  },
};

async function measure(root: string, what: string, workspace: string): Promise<Measurement[]> {
  const counted = count(workspace);
  const [firsts, cats, laters, cpus]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    cats.push(
      await milliseconds(async () =>
        execFileSync('bash', ['-c', 'find . -type f -print0 | xargs -0 cat >/dev/null'], { cwd: workspace }),
      ),
    );
    const scan = createTreeScan({ filePolicy: createFilePolicy(), purpose: 'hidden', stateDir: root });
    const before = process.cpuUsage();
    firsts.push(await milliseconds(() => scan.find(workspace)));
    const { user, system } = process.cpuUsage(before);
    cpus.push((user + system) / 1000);
    laters.push(await milliseconds(() => scan.find(workspace)));
    scan.close();
  }
  const [first, later, cpu] = [median(firsts), median(laters), median(cpus)];
  return [
    reported(`first look into ${counted.files} ${what}, against cat`, first, 'ms', median(cats)),
    reported(`the same, for each file`, (first * 1000) / counted.files, 'us'),
    ...(what === 'sources'
      ? [atMost('first look into sources, processor time for each MB', (cpu * 1e6) / counted.bytes, 'ms', 10)]
      : []),
    atMost(`a later look into ${what} against the first one`, later / first, 'x', 0.05),
  ];
}

/** The sources of this repository, again and again. */
function sources(root: string): string {
  const workspace = join(root, 'sources');
  for (let at = 0; at < COPIES; at++)
    cpSync(join(import.meta.dirname, '../src'), join(workspace, `${at}`), { recursive: true });
  return workspace;
}

function small(root: string): string {
  const workspace = join(root, 'small');
  for (let folder = 0; folder < SMALL_FILES / 500; folder++) {
    mkdirSync(join(workspace, `f${folder}`), { recursive: true });
    for (let file = 0; file < 500; file++) writeFileSync(join(workspace, `f${folder}/${file}`), `${file}\n`);
  }
  return workspace;
}

function count(workspace: string): { files: number; bytes: number } {
  const sizes = execFileSync('find', [workspace, '-type', 'f', '-printf', '%s\n']).toString().trim().split('\n');
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + Number(size), 0) };
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
