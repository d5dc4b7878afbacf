import type { ReactNode } from 'react';
import type { ViewBlock } from '../../src/protocol/view.ts';
import { useServerWords, useWords } from '../words/words.ts';
import { ViewBlocks } from './view-blocks.tsx';
import { Visible } from './visible.tsx';

interface Output {
  readonly tool: string;
  readonly error: { readonly code: string | null; readonly message: string } | undefined;
  readonly blocks: readonly ViewBlock[];
  readonly children?: ReactNode;
}

/** What a call gave, in a frame that says whose words these are: output cannot pass for a part of the page. */
export function OutputFrame({ tool, error, blocks, children }: Output): ReactNode {
  const say = useWords();
  const told = useServerWords();
  const said = error?.message ?? '';
  const meant = told(said);
  return (
    <figure className={`output-frame ${error === undefined ? '' : 'border-bad'}`}>
      <figcaption className="border-line border-b border-dashed px-2 py-0.5 text-soft text-xs">
        {error === undefined ? say('fromTool', { tool }) : [say('error'), error.code].filter(Boolean).join(' · ')}
      </figcaption>
      <div className="p-2">
        {/* Above the record, which stays as the model read it. */}
        {meant !== said && (
          <p className="mb-1">
            <Visible text={meant} />
          </p>
        )}
        <ViewBlocks blocks={blocks} />
        {children}
      </div>
    </figure>
  );
}
