import { type ReactNode, useState } from 'react';
import type { ViewBlock } from '../../src/protocol/view.ts';
import { go } from '../shell/route.ts';
import { useWords } from '../words/words.ts';
import { DiffText } from './diff-text.tsx';
import { formatDuration } from './format.ts';
import { stripEscapes, VisibleText } from './visible-text.tsx';

const FOLDED_LINES = 14;
/** As many characters as a browser lays out at once without stalling. */
const MAX_SHOWN_CHARS = 100_000;

export function ViewBlocks({ blocks }: { blocks: readonly ViewBlock[] }): ReactNode {
  return (
    <div className="flex flex-col gap-2">
      {blocks.map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </div>
  );
}

function Block({ block }: { block: ViewBlock }): ReactNode {
  switch (block.kind) {
    case 'text':
    case 'code':
      return <FoldedText text={block.text} />;
    case 'terminal':
      return <TerminalBlock block={block} />;
    case 'diff':
      return <DiffText text={block.text} />;
    case 'table':
      return <Table columns={block.columns} rows={block.rows} />;
    case 'image':
      return (
        <img className="max-h-96 max-w-full" alt={block.alt} src={`data:${block.mimeType};base64,${block.base64}`} />
      );
    case 'files':
      return <FileLinks paths={block.paths} />;
  }
}

/** Output with its end first in view, and below it how the program ended: `exit 1 · 4.5 s`, not by colour alone. */
function TerminalBlock({ block }: { block: Extract<ViewBlock, { kind: 'terminal' }> }): ReactNode {
  const say = useWords();
  const { exitCode, durationMs, title } = block;
  const facts = [
    exitCode === null ? '' : `${exitCode === 0 ? '✓' : '✗'} ${say('exitCode', { code: exitCode })}`,
    durationMs === null ? '' : formatDuration(durationMs),
  ].filter(Boolean);
  const colour = exitCode === null ? 'text-soft' : exitCode === 0 ? 'text-good' : 'text-bad';
  return (
    <>
      {title !== undefined && (
        <p className="code text-soft">
          <VisibleText text={title} />
        </p>
      )}
      {block.text !== '' && <FoldedText text={stripEscapes(block.text).replace(/\n$/, '')} fromEnd />}
      {facts.length > 0 && (
        <p data-exit className={`text-sm ${colour}`}>
          {facts.join(' · ')}
        </p>
      )}
    </>
  );
}

/** Folds long text to its first lines, or to the last lines of terminal output; one click shows the rest. */
function FoldedText({ text, fromEnd = false }: { text: string; fromEnd?: boolean }): ReactNode {
  const say = useWords();
  const [all, setAll] = useState(false);
  const lines = text.split('\n');
  const long = lines.length > FOLDED_LINES + 4 || text.length > 4000;
  const part = fromEnd ? lines.slice(-FOLDED_LINES) : lines.slice(0, FOLDED_LINES);
  const shown = all || !long ? text.slice(0, MAX_SHOWN_CHARS) : part.join('\n').slice(0, 4000);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <pre tabIndex={0} className="code max-h-[32rem] overflow-y-auto">
        <VisibleText text={shown} />
      </pre>
      {long && !all && (
        <button type="button" className="button w-fit" onClick={() => setAll(true)}>
          {say('showAll')} ({lines.length})
        </button>
      )}
      {all && text.length > MAX_SHOWN_CHARS && <p className="text-soft text-sm">{say('cutNote')}</p>}
    </>
  );
}

function Table({ columns, rows }: { columns: readonly string[]; rows: readonly (readonly string[])[] }): ReactNode {
  const say = useWords();
  const [all, setAll] = useState(false);
  const shown = all ? rows.slice(0, 2000) : rows.slice(0, FOLDED_LINES);
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-left text-sm">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} className="pr-4 font-semibold text-soft">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} className="code pr-4 align-top">
                  <VisibleText text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {!all && rows.length > FOLDED_LINES && (
        <button type="button" className="button mt-1" onClick={() => setAll(true)}>
          {say('showAll')} ({rows.length})
        </button>
      )}
    </div>
  );
}

function FileLinks({ paths }: { paths: readonly string[] }): ReactNode {
  return (
    <ul className="flex flex-wrap gap-x-3">
      {paths.slice(0, 200).map((path) => (
        <li key={path}>
          <button type="button" className="font-mono text-accent text-sm underline" onClick={() => go('files', path)}>
            <VisibleText text={path} />
          </button>
        </li>
      ))}
    </ul>
  );
}
