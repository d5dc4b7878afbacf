import { toolParameters } from '../../app/admin/known-tools.ts';
import { SETTING_NAMES } from '../../app/config/settings.ts';
import type { Texts } from '../../app/config/texts.ts';
import type { Failure } from '../../kernel/error.ts';
import type { JsonSchema } from '../../kernel/tool/input-schema.ts';
import { type ParameterSchema, readFlags } from './tool-arguments.ts';

/** Settings and remaining words that were typed after a tool's name. */
export interface TypedSettings {
  readonly settings: Texts;
  readonly rest: readonly string[];
}

/**
 * Separates settings from parameters before the app is opened. A flag that is a setting and not a parameter of the tool
 * is a setting. Only parameters of built-in tools are known this early: for another tool see `misplacedSetting`.
 */
export function takeSettings(tool: string, words: readonly string[]): TypedSettings {
  const schema = toolParameters(tool);
  return schema === undefined ? { settings: {}, rest: words } : split(words, schema);
}

/**
 * Reports a setting given to a tool that is known only after opening: it would come too late, and the tool would run
 * without it. Where the schema does not name all parameters, the flag is left to the tool.
 */
export function misplacedSetting(tool: string, words: readonly string[], schema: JsonSchema): Failure | undefined {
  if (takesMore(schema)) return undefined;
  const [name] = Object.keys(split(words, schema).settings);
  if (name === undefined) return undefined;
  const message = `${name} is a setting and no parameter of ${tool}: write --set ${name}=…, or --input for arguments.`;
  return { code: 'INVALID_INPUT', message };
}

function takesMore(schema: JsonSchema): boolean {
  const { properties = {}, additionalProperties = false } = schema as ParameterSchema & JsonSchema;
  return (
    Object.keys(properties).length === 0 || additionalProperties !== false || OPEN_KEYWORDS.some((one) => one in schema)
  );
}

const OPEN_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'if', '$ref', '$dynamicRef', 'dependentSchemas', 'patternProperties'];

function split(words: readonly string[], schema: ParameterSchema): TypedSettings {
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
