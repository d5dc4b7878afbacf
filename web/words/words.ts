import { inChinese } from '../../src/protocol/in-chinese.ts';
import { createStore, useStore } from '../state/store.ts';
import { en, type Words } from './en.ts';
import { zh } from './zh.ts';

export type Language = 'en' | 'zh';

const PLACE = 'toolwright.language';
const DICTIONARIES: Record<Language, Words> = { en, zh };

export const language = createStore<Language>(firstLanguage());

export function setLanguage(chosen: Language): void {
  localStorage.setItem(PLACE, chosen);
  language.set(chosen);
  document.documentElement.lang = chosen === 'zh' ? 'zh-CN' : 'en';
}

/** Says a text in the language of the page; `{name}` in it is replaced. */
export type Say = (key: keyof Words, values?: Record<string, string | number>) => string;

export function useWords(): Say {
  const dictionary = DICTIONARIES[useStore(language)];
  return (key, values = {}) => dictionary[key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

/** What the server said, in the language of the page where there are words for it. */
export function useServerWords(): (text: string) => string {
  return useStore(language) === 'zh' ? inChinese : (text) => text;
}

function firstLanguage(): Language {
  const kept = localStorage.getItem(PLACE);
  const chosen = kept === 'zh' || kept === 'en' ? kept : navigator.language.startsWith('zh') ? 'zh' : 'en';
  document.documentElement.lang = chosen === 'zh' ? 'zh-CN' : 'en';
  return chosen;
}
