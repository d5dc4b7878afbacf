import { inChinese } from '../../src/protocol/in-chinese.ts';
import { createStore, useStore } from '../state/store.ts';
import { en, type Words } from './en.ts';
import { zh } from './zh.ts';

export type Language = 'en' | 'zh';

const STORAGE_KEY = 'toolwright.language';
const DICTIONARIES: Record<Language, Words> = { en, zh };

export const language = createStore<Language>(firstLanguage());

export function setLanguage(chosen: Language): void {
  localStorage.setItem(STORAGE_KEY, chosen);
  language.set(chosen);
  document.documentElement.lang = chosen === 'zh' ? 'zh-CN' : 'en';
}

/** Returns a text in the language of the page, with each `{name}` in it replaced. */
export type Translate = (key: keyof Words, values?: Record<string, string | number>) => string;

export function useWords(): Translate {
  const dictionary = DICTIONARIES[useStore(language)];
  return (key, values = {}) => dictionary[key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

/** Returns a function that translates the server's messages into the language of the page, where it can. */
export function useServerWords(): (text: string) => string {
  return useStore(language) === 'zh' ? inChinese : (text) => text;
}

function firstLanguage(): Language {
  const kept = localStorage.getItem(STORAGE_KEY);
  const chosen = kept === 'zh' || kept === 'en' ? kept : navigator.language.startsWith('zh') ? 'zh' : 'en';
  document.documentElement.lang = chosen === 'zh' ? 'zh-CN' : 'en';
  return chosen;
}
