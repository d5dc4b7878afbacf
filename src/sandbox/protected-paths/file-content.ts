import { readFileSync } from 'node:fs';
import { isGitConfig } from '../../git/credentials.ts';
import { parentOf } from '../../kernel/text/folders-above.ts';
import { createFilePolicy, isWalked, liesUnwalked } from '../../kernel/world/file-policy.ts';
import type { Yielder } from '../../kernel/yielding.ts';
import { isPublicContent, MAX_PUBLIC_BYTES } from '../../secrets/public-content.ts';
import { type OpenedContent, secretInOpenFile } from '../../secrets/secret-in-open-file.ts';

/** The verdict of a content alone, whatever the rules and the decisions of people say about its path. */
export interface SecretContent {
  /** The kind of secret in it; null for none. */
  readonly secret: string | null;
  /** Whether a file whose name could be that of a secret holds none. */
  readonly isPublic: boolean;
}

export async function contentOf(file: OpenedContent, yielder: Yielder): Promise<SecretContent> {
  const secret = await secretInOpenFile(file, yielder);
  const mayBePublic = secret === null && file.size <= MAX_PUBLIC_BYTES && mayBeFreed(file.path);
  return { secret, isPublic: mayBePublic && isPublicContent(readFileSync(file.fd)) };
}

/** Whether the content of files in a folder counts: not of git's own files, which git must be able to read, and of packages. */
export function isContentJudged(folder: string): boolean {
  return !IN_GIT.test(folder) && isWalked(folder) && !liesUnwalked(folder);
}

const IN_GIT = /(?:^|\/)\.git(?:\/|$)/i;

/** The same of one file. Git's configuration stays readable: credentials in it are replaced in the output of commands. */
export function isFileJudged(path: string): boolean {
  return isContentJudged(parentOf(path)) && !isGitConfig(path);
}

const BUILT_IN = createFilePolicy();

/** By the last name alone: all these rules are about names. */
function mayBeFreed(path: string): boolean {
  return BUILT_IN.judgeEntry('', path.slice(path.lastIndexOf('/') + 1), 'file').rule?.unless === 'public content';
}
