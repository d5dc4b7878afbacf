import type { ReactNode } from 'react';
import type { ViewBlock } from '../../src/protocol/view.ts';
import { useServerWords, useWords } from '../words/words.ts';
import { ViewBlocks } from './view-blocks.tsx';
import { VisibleText } from './visible-text.tsx';

interface OutputFrameProps {
  readonly error: { readonly code: string | null; readonly message: string } | undefined;
  readonly blocks: readonly ViewBlock[];
  readonly children?: ReactNode;
}

/** The output of a call in a frame of its own, so that output cannot pass for a part of the page. */
export function OutputFrame({ error, blocks, children }: OutputFrameProps): ReactNode {
  const say = useWords();
  const told = useServerWords();
  const said = error?.message ?? '';
  const meant = told(said);
  return (
    <figure className={`output-frame ${error === undefined ? '' : 'border-bad'}`}>
      <figcaption className="border-line border-b border-dashed px-2 py-0.5 text-soft text-xs">
        {error === undefined ? say('output') : [say('error'), error.code].filter(Boolean).join(' · ')}
      </figcaption>
      <div className="p-2">
        {/* The translation stands above the recorded text, which stays as the model read it. */}
        {meant !== said && (
          <p className="mb-1">
            <VisibleText text={meant} />
          </p>
        )}
        <ViewBlocks blocks={blocks} />
        {children}
      </div>
    </figure>
  );
}
