import { closeSync } from 'node:fs';
import { catchErrno } from '../../host/errno.ts';
import { infoOf, type OpenFile, openFile, readWhole } from '../../host/open-file.ts';
import { shortPath } from '../../host/parse-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { FileInfo } from '../../kernel/world/workspace.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import { decodeText } from './decode-text.ts';

/** The text of a secret, for the eyes of a person alone. */
export interface OwnerText extends FileInfo {
  readonly text: string;
  readonly encoding: string;
}

const MAX_BYTES = 1024 * 1024;

/**
 * Reads a text for the person whose workspace it is, also one that is kept from tools. Never outside the workspace, by no symlink
 * and no hard link, and nothing of Toolwright's own. No tool, model or record may be given the answer.
 */
export function readForOwner(root: WorkspaceRoot, path: string): Result<OwnerText> {
  const located = root.locateForOwner(path);
  if (!located.ok) return located;
  const spot = located.value;
  return catchErrno(path, () => {
    let file: Result<OpenFile>;
    try {
      file = openFile(spot);
    } finally {
      spot.folder.close();
    }
    if (!file.ok) return file;
    try {
      return textOf(file.value, spot.path);
    } finally {
      closeSync(file.value.fd);
    }
  });
}

function textOf(file: OpenFile, path: string): Result<OwnerText> {
  const { size, nlink } = file.stat;
  const short = shortPath(path);
  if (nlink > 1) {
    const next = 'Open it where it is.';
    return fail(
      'PERMISSION_DENIED',
      `${short} has a second name (a hard link), which may be outside the workspace. ${next}`,
    );
  }
  if (size > MAX_BYTES) {
    const message = `${short} has ${size} bytes, more than the ${MAX_BYTES} that are shown. Open it in another program.`;
    return fail('TOO_LARGE', message, { size, most: MAX_BYTES });
  }
  const decoded = decodeText(readWhole(file, MAX_BYTES));
  if (!decoded.ok) return fail('INVALID_INPUT', `${short}: ${decoded.error.message}`);
  if (decoded.value === null) return fail('INVALID_INPUT', `${short} is no text. Open it in another program.`);
  const { text, encoding } = decoded.value;
  return ok({ ...infoOf(path, file.stat), text, encoding });
}
