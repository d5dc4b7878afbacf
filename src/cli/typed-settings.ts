import { SETTING_NAMES } from '../app/config/settings.ts';
import type { Texts } from '../app/config/texts.ts';
import { toolParameters } from '../app/tool-parameters.ts';
import type { Failure } from '../kernel/error.ts';
import type { JsonSchema } from '../kernel/tool/input-schema.ts';
import { readFlags, type Schema } from './arguments/tool-arguments.ts';

/** What was typed behind a tool's name. */
export interface Typed {
  readonly settings: Texts;
  readonly rest: readonly string[];
}

/**
 * Before anything is open. A flag that is a setting, and no parameter of the tool, is the setting. Only the parameters of
 * built-in tools are known this early: with another tool all is left for `misplacedSetting`.
 */
export function takeSettings(tool: string, words: readonly string[]): Typed {
  const schema = toolParameters(tool);
  return schema === undefined ? { settings: {}, rest: words } : split(words, schema);
}

/**
 * The same flag on a tool that had to be opened to be known: it would come too late, and the tool would run without it.
 * Where a schema does not name all that the tool takes, the flag is left to the tool.
 */
export function misplacedSetting(tool: string, words: readonly string[], schema: JsonSchema): Failure | undefined {
  if (takesMore(schema)) return undefined;
  const [name] = Object.keys(split(words, schema).settings);
  if (name === undefined) return undefined;
  const message = `${name} is a setting and no parameter of ${tool}: write --set ${name}=…, or --input for arguments.`;
  return { code: 'INVALID_INPUT', message };
}

function takesMore(schema: JsonSchema): boolean {
  const { properties = {}, additionalProperties = false } = schema as Schema & JsonSchema;
  return Object.keys(properties).length === 0 || additionalProperties !== false || FURTHER.some((one) => one in schema);
}

const FURTHER = ['allOf', 'anyOf', 'oneOf', 'if', '$ref', '$dynamicRef', 'dependentSchemas', 'patternProperties'];

function split(words: readonly string[], schema: Schema): Typed {
  const settings: Record<string, string> = {};
  const rest: string[] = [];
  for (const { name = '', value, typed } of readFlags(words, schema)) {
    const setting = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const isSetting = (SETTING_NAMES as string[]).includes(setting) && !Object.hasOwn(schema.properties ?? {}, name);
    if (isSetting && value !== undefined) settings[setting] = value;
    else rest.push(...typed);
  }
  return { settings, rest };
}
