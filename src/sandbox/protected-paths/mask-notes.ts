import { howToFree } from '../../kernel/world/decided-files.ts';
import type { FilePolicy } from '../../kernel/world/file-policy.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { RunOutput } from '../../kernel/world/sandbox.ts';

const DENIED = /permission denied|EACCES|EPERM|PermissionError|not permitted|unable to (?:read|open|index)/i;
const MAX_NAMED = 3;

/** The notes of a run about the files hidden from it: those that its errors name, and how many were not looked into yet. */
export function maskNotes(
  policy: FilePolicy,
  { hidden, output }: { hidden: readonly ProtectedPath[]; output: RunOutput },
): string[] {
  const unread = hidden.filter(({ because }) => because === 'unread');
  const notes = unread.length === 0 ? [] : [unreadNote(unread)];
  const text = [output.stdout, output.stderr].map(({ head, tail }) => `${latin(head)}\n${latin(tail)}`).join('\n');
  if (hidden.length === 0 || !DENIED.test(text)) return notes;
  const named = hidden.filter(({ path, because }) => because !== 'unread' && isNamedIn(text, path));
  const more = named.length - MAX_NAMED;
  return [
    ...named
      .slice(0, MAX_NAMED)
      .map((each) => `${each.path} is hidden from commands: ${whyHidden(each)}. ${howToFree(policy, each.path)}`),
    ...(more > 0 ? [`${more} more files that it could not open are hidden from commands.`] : []),
    ...notes,
  ];
}

/** The message for the caller while a run waits for the first look into the files. */
export function waitMessage(filesLeft: number): string {
  return `Looking for secrets in the files of the workspace before the command may see them: ${filesLeft} are left.`;
}

export function watchNotes(unwatched: number): string[] {
  if (unwatched === 0) return [];
  const folders = unwatched === 1 ? '1 folder' : `${unwatched} folders`;
  return [
    `${folders} of the workspace could not be watched, so each of their files is looked at for each command. An administrator can raise fs.inotify.max_user_watches.`,
  ];
}

function unreadNote(unread: readonly ProtectedPath[]): string {
  const files = unread.length === 1 ? '1 file was' : `${unread.length} files were`;
  return `${files} not yet looked into for secrets and hidden from this command, such as ${unread[0]?.path}. Run it again in a moment.`;
}

function whyHidden({ rule, secret, because }: ProtectedPath): string {
  if (secret !== undefined) return `it holds ${/^[aeioA]/.test(secret) ? 'an' : 'a'} ${secret}`;
  if (because === 'alias') return 'it is another name of a sensitive file';
  return rule?.reason ?? 'it may hold a secret';
}

/** By its whole path, or by its last name between signs that are no part of a name. */
function isNamedIn(text: string, path: string): boolean {
  const name = latin(Buffer.from(path.slice(path.lastIndexOf('/') + 1)));
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const around = (text[at - 1] ?? ' ') + (text[at + name.length] ?? ' ');
    if (!/[\w.-]/.test(around[0] ?? ' ') && !/\w/.test(around[1] ?? ' ')) return true;
  }
  return false;
}

function latin(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
