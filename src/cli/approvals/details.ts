import type { ApprovalRequest } from '../../kernel/ports.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { Cli } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';
import { previewLines } from './preview.ts';

/** All of a question for reading: the whole preview, each argument that it does not show, the access, and each verdict. */
export function detailLines(cli: Cli, { args, access, shown }: ApprovalRequest): string[] {
  const { words, style } = cli;
  const preview = previewLines(shown.preview, cli);
  const commands = shown.preview.flatMap((block) => (block.kind === 'command' ? [block.command] : []));
  const others = Object.entries(args).filter(([, value]) => !commands.includes(String(value)));
  const touched = access.map(accessLine).filter((line) => line !== '');
  const judged = shown.verdicts.map(
    ({ what, verdict, rule, reason }) =>
      `${what.replace(/\s+/g, ' ')}: ${words.verdicts[verdict]} (${rule}) ${words.said(reason)}`,
  );
  return [
    ...preview,
    ...section(style.bold(words.details.args), others.flatMap(argumentLines)),
    ...section(style.bold(words.details.access), touched),
    ...section(style.bold(words.details.verdicts), judged),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${harmless(line)}`)];
}

/** `name: value`; a text of several lines stands below its name with its indentation. */
function argumentLines([name, value]: [string, unknown]): string[] {
  if (typeof value !== 'string') return [`${name}: ${toJson(value)}`];
  const lines = value.replace(/\n$/, '').split('\n');
  return lines.length === 1 ? [`${name}: ${value}`] : [`${name}:`, ...lines.map((line) => `  ${line}`)];
}

function accessLine(access: Access): string {
  if ('path' in access) return `${access.kind} ${access.path}`;
  if (access.kind === 'net.fetch') return `${access.kind} ${access.method} ${access.url}`;
  if (access.kind === 'net.search') return `${access.kind} ${access.query}`;
  if (access.kind === 'fs.apply') return `${access.kind} ${access.paths.join(', ')}`;
  if (access.kind !== 'process.run') return access.kind;
  const where = access.cwd === undefined ? '' : ` in ${access.cwd}`;
  return `${access.kind}${where}${access.network ? ' (network)' : ''}`;
}
