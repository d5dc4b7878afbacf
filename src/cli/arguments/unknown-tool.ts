import type { App } from '../../app/open-app.ts';
import type { Failure } from '../../kernel/error.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import type { Cli } from '../cli.ts';
import { harmless } from '../text/style.ts';

/** Reports an unknown tool name, suggests similar ones, and names the command that lists all. */
export function unknownTool(
  { words }: Cli,
  registry: App['registry'],
  name: string,
  list = 'toolwright tools',
): Failure {
  const names = registry.listAll().map((tool) => tool.name);
  const meant = nearest(name, names);
  const hint = meant.length > 0 ? ` ${words.didYouMean(meant.join(', '))}` : '';
  return { code: 'UNKNOWN_TOOL', message: `${words.noSuchTool(harmless(name), list)}${hint}` };
}
