import { type RefObject, useEffect, useRef } from 'react';

/**
 * Returns a ref for an element that may be focused by a script. It takes the focus when what had it in there disappeared with a
 * change of `what`, so that a person at the keyboard goes on from the same place.
 */
export function useKeptFocus<T extends HTMLElement>(what: string): RefObject<T | null> {
  const place = useRef<T>(null);
  const hadFocus = useRef(false);
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      hadFocus.current = target instanceof Node && place.current?.contains(target) === true;
    };
    document.addEventListener('focusin', note);
    return () => document.removeEventListener('focusin', note);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the change is the reason to look
  useEffect(() => {
    const { activeElement, body } = document;
    if (hadFocus.current && (activeElement === body || activeElement === null)) place.current?.focus();
  }, [what]);
  return place;
}
