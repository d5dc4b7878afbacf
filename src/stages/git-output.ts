import type { RunRequest, Sandbox } from '../kernel/world/sandbox.ts';

const MAX_OUTPUT_BYTES = 128 * 1024 * 1024;

type GitRequest = Omit<RunRequest, 'command' | 'mounts' | 'limits'> & {
  readonly script: string;
  readonly timeMs: number;
};

/** Everything that a script of git prints, in the sandbox, where it can write nothing: a repository is untrusted text. Null when it fails. */
export async function gitOutput(sandbox: Sandbox, { script, timeMs, ...request }: GitRequest): Promise<string | null> {
  const ran = await sandbox.run({
    ...request,
    command: { script },
    mounts: 'read',
    limits: { timeMs, graceMs: 100, keepBytes: MAX_OUTPUT_BYTES, outputBytes: MAX_OUTPUT_BYTES },
  });
  if (!ran.ok) return null;
  const { output, exitCode } = ran.value;
  const text = Buffer.from(output.log.read(0, output.log.keptBytes, 'stdout')).toString('utf8');
  output.log.dispose();
  return exitCode === 0 ? text : null;
}
