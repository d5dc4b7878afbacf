import { posix } from 'node:path';

/** One thing that a command did, or tried to do. */
export interface Touched {
  readonly kind: 'ran' | 'read' | 'wrote' | 'connected';
  /** A whole path, as the kernel saw it. */
  readonly path: string;
  readonly worked: boolean;
  readonly line: string;
}

/** Returns the files and programs that each command between the markers touched. */
export function parseTrace(trace: string, marker: string, count: number): Touched[][] {
  const touched: Touched[][] = Array.from({ length: count }, () => []);
  let current = -1;
  for (const line of joined(trace)) {
    const next = new RegExp(`"${marker}/(\\d+|end)"`).exec(line)?.[1];
    if (next !== undefined) current = next === 'end' ? count : Number(next);
    else if (current >= 0 && current < count) touched[current]?.push(...read(line));
  }
  if (current !== count) throw new Error('the trace does not reach the last command');
  return touched;
}

/** A call that was interrupted by another process stands on two lines. */
function joined(trace: string): string[] {
  const open = new Map<string, string>();
  const lines: string[] = [];
  for (const line of trace.split('\n')) {
    const [, pid = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const begun = /^(.*?)\s*<unfinished \.\.\.>$/.exec(rest);
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    if (begun !== null) open.set(pid, begun[1] ?? '');
    else if (resumed !== null) lines.push(`${open.get(pid) ?? ''}${resumed[1] ?? ''}`);
    else lines.push(rest);
  }
  return lines;
}

const WRITING = /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE/;

function read(line: string): Touched[] {
  const [, call = '', rest = ''] = /^(\w+)\((.*)$/s.exec(line) ?? [];
  if (call === '') return [];
  const worked = !/\)\s+=\s+-1 /.test(line);
  const paths = [...rest.matchAll(/(?:AT_FDCWD<([^>]*)>|(\d+)<([^>]*)>)?,? ?"((?:[^"\\]|\\.)*)"/g)].map(
    ([, cwd, , folder, path = '']) => posix.resolve(cwd ?? folder ?? '/', unescaped(path)),
  );
  const [first] = paths;
  if (call === 'connect') return [{ kind: 'connected', path: line, worked, line }];
  if (first === undefined) return [];
  if (call.startsWith('execve')) return [{ kind: 'ran', path: first, worked, line }];
  if (call.startsWith('open')) return [{ kind: WRITING.test(rest) ? 'wrote' : 'read', path: first, worked, line }];
  return [{ kind: 'wrote', path: first, worked, line }];
}

function unescaped(text: string): string {
  return text.replace(/\\([0-7]{1,3}|.)/g, (_, code: string) =>
    /^[0-7]/.test(code)
      ? String.fromCharCode(Number.parseInt(code, 8))
      : code === 'n'
        ? '\n'
        : code === 't'
          ? '\t'
          : code,
  );
}
