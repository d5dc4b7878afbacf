import { type RefObject, useEffect, useRef } from 'react';

/** Tells once that the end of what is to be approved was in view; before that it cannot be allowed. */
export function useSeenEnd(digest: string, onSeen: (digest: string) => void): RefObject<HTMLDivElement | null> {
  const end = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each plan
  useEffect(() => {
    if (end.current === null) return;
    // Observed against the window, hence inside every scroller around it. Nothing may cover a part of a scroller.
    const watch = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && onSeen(digest),
    );
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [digest]);
  return end;
}
