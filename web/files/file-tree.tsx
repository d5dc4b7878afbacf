import { ChevronDown, ChevronRight, File, FileCode, FileImage, FileText, Folder, FolderOpen } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import { VisibleText } from '../show/visible-text.tsx';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { FileSearch } from './file-search.tsx';
import { followGit, type GitState, gitStates } from './git-state.ts';
import { changedByTools, expanded, type FileEntry, folders, join, loadFolder, toggle } from './tree-state.ts';

/** The workspace as a tree. A folder loads when it is opened, and again when something in it changes. */
export function FileTree({ open, onOpen }: { open: string | null; onOpen: (path: string) => void }): ReactNode {
  const say = useWords();
  const [search, setSearch] = useState('');
  useEffect(() => void loadFolder('.'), []);
  useEffect(followGit, []);
  return (
    <div className="flex flex-col">
      <input
        type="search"
        aria-label={say('searchFiles')}
        placeholder={say('searchFiles')}
        className="field m-2 w-auto"
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      {search.trim() === '' ? (
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a tree is a list that can be walked
        <ul role="tree" aria-label={say('files')} onKeyDown={moveFocus}>
          <Branch folder="." depth={0} open={open} onOpen={onOpen} />
        </ul>
      ) : (
        <FileSearch text={search} onOpen={onOpen} />
      )}
    </div>
  );
}

interface BranchProps {
  folder: string;
  depth: number;
  open: string | null;
  onOpen: (path: string) => void;
}

function Branch({ folder, depth, open, onOpen }: BranchProps): ReactNode {
  const say = useWords();
  const listing = useStore(folders).get(folder);
  if (listing === undefined) return null;
  return (
    <>
      {listing.entries.toSorted(foldersFirst).map((entry) => (
        <Node key={entry.name} entry={entry} folder={folder} depth={depth} open={open} onOpen={onOpen} />
      ))}
      {!listing.complete && <li className="px-3 text-soft text-xs">{say('moreEntries')}</li>}
    </>
  );
}

function Node({ entry, folder, depth, open, onOpen }: BranchProps & { entry: FileEntry }): ReactNode {
  const say = useWords();
  const path = join(folder, entry.name);
  const isFolder = entry.type === 'directory';
  const isOpen = useStore(expanded).has(path);
  const isTouched = useStore(changedByTools).has(path);
  const git = useStore(gitStates).get(path);
  const Icon = isFolder ? (isOpen ? FolderOpen : Folder) : iconOf(entry.name);
  return (
    <li role="treeitem" aria-expanded={isFolder ? isOpen : undefined} aria-selected={open === path} tabIndex={-1}>
      <button
        type="button"
        onClick={() => (isFolder ? toggle(path) : onOpen(path))}
        style={{ paddingLeft: `${0.5 + depth * 0.9}rem` }}
        className={`flex min-h-8 w-full items-center gap-1.5 pr-2 text-left text-sm hover:bg-raised ${open === path ? 'bg-raised font-semibold' : ''}`}
      >
        {isFolder ? isOpen ? <ChevronDown size={14} /> : <ChevronRight size={14} /> : <span className="w-3.5" />}
        <Icon size={16} aria-hidden className="shrink-0 text-soft" />
        <span className="min-w-0 truncate">
          <VisibleText text={entry.name} />
        </span>
        <span className="ml-auto flex shrink-0 items-center gap-1.5 pl-1">
          {isTouched && (
            <span title={say('touched')} className="text-accent text-xs">
              <span aria-hidden>●</span>
              <span className="sr-only">{say('touched')}</span>
            </span>
          )}
          {git !== undefined && <GitMark state={git} />}
        </span>
      </button>
      {isFolder && isOpen && (
        // biome-ignore lint/a11y/useSemanticElements: a branch of a tree
        <ul role="group">
          <Branch folder={path} depth={depth + 1} open={open} onOpen={onOpen} />
        </ul>
      )}
    </li>
  );
}

const GIT = {
  modified: { letter: 'M', word: 'gitModified', colour: 'text-warn' },
  added: { letter: 'A', word: 'gitAdded', colour: 'text-good' },
  deleted: { letter: 'D', word: 'gitDeleted', colour: 'text-bad' },
  untracked: { letter: 'U', word: 'gitUntracked', colour: 'text-good' },
  conflict: { letter: '!', word: 'gitConflict', colour: 'text-bad' },
} as const;

function GitMark({ state }: { state: GitState }): ReactNode {
  const say = useWords();
  const { letter, word, colour } = GIT[state];
  return (
    <span title={say(word)} data-git={state} className={`w-3.5 text-center font-mono font-semibold text-xs ${colour}`}>
      <span aria-hidden>{letter}</span>
      <span className="sr-only">{say(word)}</span>
    </span>
  );
}

function foldersFirst(a: FileEntry, b: FileEntry): number {
  const order = Number(b.type === 'directory') - Number(a.type === 'directory');
  return order === 0 ? a.name.localeCompare(b.name) : order;
}

function iconOf(name: string): typeof File {
  if (/\.(png|jpe?g|gif|svg|webp|ico)$/i.test(name)) return FileImage;
  if (/\.([cm]?[jt]sx?|py|go|rs|java|c|h|cpp|sh|json|ya?ml|toml|css|html)$/i.test(name)) return FileCode;
  return /\.(md|txt|rst)$/i.test(name) ? FileText : File;
}

/** Arrow keys: up and down move through the visible entries, left and right close and open folders. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const buttons = [...event.currentTarget.querySelectorAll<HTMLButtonElement>('button')];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const item = buttons[at]?.closest('[role=treeitem]');
  if (event.key === 'ArrowDown') buttons[at + 1]?.focus();
  else if (event.key === 'ArrowUp') buttons[at - 1]?.focus();
  else if (event.key === 'ArrowRight' && item?.getAttribute('aria-expanded') === 'false') buttons[at]?.click();
  else if (event.key === 'ArrowLeft' && item?.getAttribute('aria-expanded') === 'true') buttons[at]?.click();
  else return;
  event.preventDefault();
}
