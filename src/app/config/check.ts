import { nearest } from '../../kernel/text/nearest.ts';
import { showValue } from '../../secrets/hide-in-messages.ts';
import { type PartialConfig, SETTING_NAMES, SETTINGS, type SettingName, schemaField } from './settings.ts';

const EXAMPLE = './node_modules/toolwright/docs/config.schema.json';

/** The valid settings of a source, and its problems in words that name the source. */
export interface CheckedSettings {
  values: PartialConfig;
  problems: string[];
}

/** Checks the settings of one source. Nothing is guessed: a value of the wrong type is a problem, not a conversion. */
export function checkObject(source: string, given: unknown): CheckedSettings {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { values: {}, problems: [`${source} must hold an object: { "mode": "ask" }.`] };
  }
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (name === '$schema') {
      if (!schemaField.safeParse(value).success)
        problems.push(`${source}: $schema must be a text, such as ${showValue(EXAMPLE)}.`);
      continue;
    }
    if (!isSetting(name)) {
      problems.push(`${source}: there is no setting '${name}'.${suggestion(name)}`);
      continue;
    }
    const parsed = SETTINGS[name].schema.safeParse(value);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(`${source}: ${name} cannot be ${orHidden(name, value)}: ${reasonOf(parsed.error)}`);
  }
  return { values: values as PartialConfig, problems };
}

/** Checks a text from a flag or the environment, which may be a number, a list, JSON or null. */
export function checkText(source: string, name: SettingName, text: string): CheckedSettings {
  return checkObject(source, { [name]: fromText(name, text) });
}

/** Hides an invalid database address or MCP server, because a password may be anywhere in it. */
function orHidden(name: SettingName, value: unknown): string {
  const secret = name === 'databaseUrl' || name === 'mcpServers';
  return secret ? 'what it is (not shown, it may hold a password)' : showValue(value);
}

function isSetting(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

function suggestion(name: string): string {
  const [guess] = nearest(name, SETTING_NAMES);
  return guess === undefined ? ` There are: ${SETTING_NAMES.join(', ')}.` : ` Did you mean '${guess}'?`;
}

function fromText(name: SettingName, text: string): unknown {
  const { fallback, schema } = SETTINGS[name];
  if (Array.isArray(fallback)) return listOf(text);
  if (text === 'null') return null;
  if (text.trim().startsWith('{') || (typeof fallback === 'object' && fallback !== null)) return jsonOf(text);
  const number = Number(text);
  const isNumber = text.trim() !== '' && Number.isFinite(number);
  // A number out of range is reported as a number, unless the setting takes texts.
  return isNumber && (schema.safeParse(number).success || !schema.safeParse(text).success) ? number : text;
}

/** Splits a list at commas outside of parentheses, which belong to a rule. A list may also be JSON. */
function listOf(text: string): unknown {
  if (text.trim().startsWith('[')) return jsonOf(text);
  return text
    .split(/,(?![^(]*\))/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function reasonOf(error: { issues: readonly { message: string; path: readonly PropertyKey[] }[] }): string {
  return error.issues
    .map(({ message, path }) => (path.length > 0 ? `[${path.join('.')}] ${message}` : message))
    .join('; ');
}
