import { lazy, type ReactNode } from 'react';
import { go } from '../shell/route.ts';
import { LazyPart } from '../show/lazy-part.tsx';
import { useWords } from '../words/words.ts';
import { FileTree } from './file-tree.tsx';

const Editor = lazy(() => import('../editor/editor.tsx').then(({ Editor }) => ({ default: Editor })));

/** Hidden, the screen keeps the editor only: a hidden tree would go on asking for the git status. */
export function FilesScreen({ path, shown }: { path: string | null; shown: boolean }): ReactNode {
  const say = useWords();
  return (
    <div className="flex h-full flex-col md:flex-row">
      <h1 className="sr-only">{say('files')}</h1>
      <aside
        aria-label={say('files')}
        className={`min-h-0 shrink-0 overflow-y-auto border-line border-b bg-panel md:h-full md:w-72 md:border-r md:border-b-0 ${path === null ? 'flex-1 md:flex-none' : 'max-h-[30dvh] md:max-h-none'}`}
      >
        {shown && <FileTree open={path} onOpen={(chosen) => go('files', chosen)} />}
      </aside>
      <div className="min-h-0 min-w-0 flex-1">
        <LazyPart>
          <Editor path={path} onPath={(chosen) => go('files', chosen)} />
        </LazyPart>
      </div>
    </div>
  );
}
