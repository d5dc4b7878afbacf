import type { SessionView } from '../../src/protocol/sessions.ts';
import type { Translate } from '../words/words.ts';

/** `0.4 s`, `12 s`, `3 min`, `24 h`. */
export function formatDuration(ms: number): string {
  if (ms < 950) return `${Math.max(1, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)} s`;
  if (ms < 120 * 60_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

export function formatBytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KB`;
  return `${(size / 1024 / 1024).toFixed(1)} MB`;
}

export function formatTime(at: number, language: 'en' | 'zh'): string {
  return new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', { timeStyle: 'medium' }).format(at);
}

/** Leaves out the year, for rows of a list; the page of each call shows it. */
export function formatDayAndTime(at: number, language: 'en' | 'zh'): string {
  const two = '2-digit' as const;
  const style = { month: two, day: two, hour: two, minute: two, second: two };
  return new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', style).format(at);
}

export function formatDateTime(at: number, language: 'en' | 'zh'): string {
  const style = { dateStyle: 'short', timeStyle: 'medium' } as const;
  return new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', style).format(at);
}

/** The title of a session, or a part of its id. */
export function sessionName({ id, title }: Pick<SessionView, 'id' | 'title'>, say: Translate): string {
  return title ?? `${say('untitled')} · ${id.slice(0, 8)}`;
}
