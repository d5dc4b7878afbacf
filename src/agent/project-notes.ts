import { hash } from 'node:crypto';
import { withoutHalfPair } from '../kernel/text/truncate.ts';
import type { Files } from '../kernel/world/workspace.ts';

/** Notes of the workspace about itself: guidance for the model, which grants no permission. */
export interface ProjectNotes {
  readonly instructions: (NoteText & { readonly text: string; readonly secret: string }) | undefined;
  /** Of a file that is its own description only the name is read. */
  readonly skills: readonly (Partial<NoteText> & { readonly path: string; readonly about: string })[];
}

/** A text of the workspace that the model is given, by which a person may have agreed to it. */
export interface NoteText {
  readonly path: string;
  /** SHA-256 of the whole text, in hex. */
  readonly digest: string;
}

const INSTRUCTIONS = ['AGENTS.md', 'CLAUDE.md'];
const SKILL_FOLDERS = ['.claude/skills', '.agents/skills'];
const MAX_CHARS = 32_000;
const MAX_SKILLS = 50;

/** Reads like every tool: contained, and never a sensitive file. Unreadable notes are skipped. */
export async function readProjectNotes(files: Pick<Files, 'readText' | 'list'>): Promise<ProjectNotes> {
  const skills: ProjectNotes['skills'][number][] = [];
  for (const folder of SKILL_FOLDERS) skills.push(...(await skillsIn(files, folder, MAX_SKILLS - skills.length)));
  return { instructions: await instructionsIn(files), skills };
}

/** Returns the paths of the texts in these notes to which no person has agreed. */
export function unfamiliarNotes(
  { instructions, skills }: ProjectNotes,
  isAgreed: (note: NoteText) => boolean,
): string[] {
  const notes: readonly (Partial<NoteText> | undefined)[] = [instructions, ...skills];
  const texts = notes.filter((note): note is NoteText => note?.path !== undefined && note.digest !== undefined);
  return texts.filter((note) => !isAgreed(note)).map(({ path }) => path);
}

async function instructionsIn(files: Pick<Files, 'readText'>): Promise<ProjectNotes['instructions']> {
  for (const path of INSTRUCTIONS) {
    const read = await files.readText(path);
    if (!read.ok || read.value.text.trim() === '') continue;
    const { text: whole, version } = read.value;
    const cut = whole.length > MAX_CHARS;
    const text = cut
      ? `${whole.slice(0, withoutHalfPair(whole, MAX_CHARS))}\n[The rest is left out; read ${path} for it.]`
      : whole;
    // Derived from the text, and still impossible to guess: no text contains its own hash.
    return {
      path,
      digest: hash('sha256', whole, 'hex'),
      text,
      secret: hash('sha256', `${path}:${version}`, 'hex').slice(0, 10),
    };
  }
  return undefined;
}

/** Finds skills: a folder with a SKILL.md that describes itself, or a file that is its own description. */
async function skillsIn(
  files: Pick<Files, 'readText' | 'list'>,
  folder: string,
  most: number,
): Promise<ProjectNotes['skills']> {
  const listed = await files.list(folder, { limit: MAX_SKILLS * 2 });
  const skills: ProjectNotes['skills'][number][] = [];
  for (const { name, type } of listed.ok ? listed.value.entries : []) {
    if (skills.length >= most) break;
    const isFile = type === 'file';
    const path = `${folder}/${name}${isFile ? '' : '/SKILL.md'}`;
    const described = isFile && !name.endsWith('.md') ? undefined : await describe(path);
    if (isFile || described !== undefined) skills.push({ path, about: '', ...described });
  }
  return skills;

  async function describe(path: string): Promise<{ about: string; digest: string } | undefined> {
    const read = await files.readText(path);
    if (!read.ok) return undefined;
    const { text } = read.value;
    return { about: descriptionIn(text.slice(0, 4000)).slice(0, 300), digest: hash('sha256', text, 'hex') };
  }
}

/**
 * Reads the description in the front matter. Line by line, because one pattern for all takes seconds on unclosed front
 * matter.
 */
function descriptionIn(text: string): string {
  const opened = /^---\n/m.exec(text);
  const lines = opened === null ? [] : text.slice(opened.index + 4).split(/[\n\r\u2028\u2029]/);
  const at = lines.findIndex((line) => /^description:./.test(line));
  if (at === -1 || !lines.includes('---', at + 1)) return '';
  return (lines[at] as string).slice('description:'.length).trim();
}
