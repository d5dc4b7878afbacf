import { HIDDEN, hasInvisible } from '../kernel/text/invisible.ts';
import { expandHome, readSettings } from './settings.ts';

/** The name and the e-mail address that git writes into a commit. */
export interface GitIdentity {
  readonly name: string | null;
  readonly email: string | null;
}

const MAX_CHARACTERS = 200;

/**
 * The identity in the user's own configuration and the system's: `user.name` and `user.email`, as git reads them, the later file
 * first. Follows one level of unconditional includes. Null for one that is not set, is longer than 200 characters or has a character
 * that a terminal or git would obey. `read` returns the text of a file, empty when there is none.
 */
export function userIdentity(home: string, read: (file: string) => string): GitIdentity {
  const files = ['/etc/gitconfig', `${home}/.config/git/config`, `${home}/.gitconfig`];
  const settings = files.flatMap((file) => withIncludes(file, home, read));
  const last = (key: string) => settings.findLast((each) => each.key === key)?.value ?? '';
  return { name: usable(last('user.name')), email: usable(last('user.email')) };
}

/** A configuration with just this identity; empty where there is nothing to say. */
export function identityConfig({ name, email }: GitIdentity): string {
  const lines = Object.entries({ name, email }).flatMap(([key, value]) =>
    value === null ? [] : [`\t${key} = "${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"\n`],
  );
  return lines.length === 0 ? '' : `[user]\n${lines.join('')}`;
}

function withIncludes(file: string, home: string, read: (file: string) => string): Setting[] {
  const folder = file.slice(0, file.lastIndexOf('/'));
  return plainSettings(read(file)).flatMap((setting) => {
    if (setting.key !== 'include.path') return [setting];
    const path = expandHome(setting.value, home);
    return plainSettings(read(path.startsWith('/') ? path : `${folder}/${path}`));
  });
}

interface Setting {
  readonly key: string | null;
  readonly value: string;
}

function plainSettings(text: string): Setting[] {
  return readSettings(text).map(({ key, value }) => ({ key, value: unquoted(value) }));
}

const PIECES = /"((?:[^"\\]|\\.)*)"|\\(.)|([#;].*)|([^"\\#;]+)/gs;

/** A value as git reads it: without quotes, backslashes and the comment behind it. */
function unquoted(value: string): string {
  const pieces = [...value.matchAll(PIECES)].map(
    ([, quoted, escaped, , plain]) => quoted?.replace(/\\(.)/gs, '$1') ?? escaped ?? plain ?? '',
  );
  return pieces.join('').trim();
}

function usable(value: string): string | null {
  const fits =
    value !== '' && value.length <= MAX_CHARACTERS && !hasInvisible(value, HIDDEN) && !/[\n\t<>]/.test(value);
  return fits ? value : null;
}
