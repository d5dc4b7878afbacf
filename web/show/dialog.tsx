import { X } from 'lucide-react';
import { type ReactNode, type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { useWords } from '../words/words.ts';
import { askBeforeLeaving } from './ask-before-leaving.ts';

/** The browser's own dialog: it keeps the focus inside, closes on Escape and returns the focus. */
export function Dialog({
  title,
  wide = false,
  bare = false,
  unsaved = false,
  onClose,
  children,
}: {
  title: ReactNode;
  wide?: boolean;
  /** The children bring their own `DialogBody` and a footer that never scrolls. */
  bare?: boolean;
  /** Text typed in the dialog would be lost: the first attempt to close it asks, and so does leaving the page. */
  unsaved?: boolean;
  onClose: () => void;
  children: ReactNode;
}): ReactNode {
  const say = useWords();
  const titleId = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  const [asking, setAsking] = useState(false);
  useEffect(() => {
    if (!unsaved) setAsking(false);
    return askBeforeLeaving(() => unsaved);
  }, [unsaved]);
  const onCancel = (event: SyntheticEvent) => {
    if (!unsaved || asking) return;
    event.preventDefault();
    setAsking(true);
  };
  const close = () => dialog.current?.close();
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={onCancel}
      onClose={onClose}
      className={`max-h-[92dvh] w-[calc(100vw-1.5rem)] ${wide ? 'max-w-4xl' : 'max-w-xl'} flex-col rounded-xl border border-line bg-panel p-0 open:flex`}
    >
      <div className="flex items-center gap-2 border-line border-b px-4 py-2">
        <h2 id={titleId} className="min-w-0 flex-1 font-semibold [overflow-wrap:anywhere]">
          {title}
        </h2>
        <button
          type="button"
          className="button plain"
          aria-label={say('close')}
          onClick={() => (unsaved ? setAsking(true) : close())}
        >
          <X size={18} aria-hidden />
        </button>
      </div>
      {unsaved && asking && (
        <div role="alert" className="flex flex-wrap items-center gap-2 border-line border-b bg-warn-back px-4 py-2">
          <span className="flex-1">{say('discardWritten')}</span>
          <button type="button" className="button" onClick={() => setAsking(false)}>
            {say('keepEditing')}
          </button>
          <button type="button" className="button danger" onClick={close}>
            {say('discard')}
          </button>
        </div>
      )}
      {bare ? children : <DialogBody>{children}</DialogBody>}
    </dialog>
  );
}

/** The part that scrolls. */
export function DialogBody({ children }: { children: ReactNode }): ReactNode {
  return <div className="min-h-0 flex-1 overflow-y-auto p-4">{children}</div>;
}
