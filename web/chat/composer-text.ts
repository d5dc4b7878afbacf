import { askBeforeLeaving } from '../show/ask-before-leaving.ts';
import { createStore } from '../state/store.ts';

/** What is being written. It outlives the screen, so that nothing typed is lost by looking elsewhere. */
export const composerText = createStore('');

askBeforeLeaving(() => composerText.get().trim() !== '');
