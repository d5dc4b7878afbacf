import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useWords } from '../words/words.ts';

/** The browser's own dialog: it keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog({
  title,
  wide = false,
  bare = false,
  onClose,
  children,
}: {
  title: ReactNode;
  wide?: boolean;
  /** It brings its own `DialogBody`, and what stands below it and never scrolls. */
  bare?: boolean;
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
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
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
          onClick={() => dialog.current?.close()}
        >
          <X size={18} aria-hidden />
        </button>
      </div>
      {bare ? children : <DialogBody>{children}</DialogBody>}
    </dialog>
  );
}

/** The part that scrolls. */
export function DialogBody({ children }: { children: ReactNode }): ReactNode {
  return <div className="min-h-0 flex-1 overflow-y-auto p-4">{children}</div>;
}
