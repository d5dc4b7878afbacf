import { useEffect, useState } from 'react';
import type { Store } from './store.ts';

/** Returns a store's value, updated at most every `everyMs`, for components that send a request on each update. */
export function useThrottled<T>(store: Store<T>, everyMs: number): T {
  const [value, setValue] = useState(store.get);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setValue(() => store.get());
      }, everyMs);
    };
    const stop = store.subscribe(later);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [store, everyMs]);
  return value;
}
