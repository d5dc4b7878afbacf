import { createHash } from 'node:crypto';
import type { Files } from '../kernel/workspace.ts';

/** What a workspace says about itself. It is somebody's text: guidance for the model, and nothing that gives rights. */
export interface ProjectNotes {
  readonly instructions: { readonly path: string; readonly text: string; readonly secret: string } | undefined;
  readonly skills: readonly { readonly path: string; readonly about: string }[];
}

const INSTRUCTIONS = ['AGENTS.md', 'CLAUDE.md'];
const SKILL_FOLDERS = ['.claude/skills', '.agents/skills'];
const MOST_CHARACTERS = 32_000;
const MOST_SKILLS = 50;

/** Reads like every tool does: contained, and never a sensitive file. What cannot be read is not there. */
export async function readProjectNotes(files: Pick<Files, 'readText' | 'list'>): Promise<ProjectNotes> {
  const skills = (await Promise.all(SKILL_FOLDERS.map((folder) => skillsIn(files, folder)))).flat();
  return { instructions: await instructionsIn(files), skills: skills.slice(0, MOST_SKILLS) };
}

async function instructionsIn(files: Pick<Files, 'readText'>): Promise<ProjectNotes['instructions']> {
  for (const path of INSTRUCTIONS) {
    const read = await files.readText(path);
    if (!read.ok || read.value.text.trim() === '') continue;
    const { text: whole, version } = read.value;
    const cut = whole.length > MOST_CHARACTERS;
    const text = cut ? `${whole.slice(0, MOST_CHARACTERS)}\n[The rest is left out; read ${path} for it.]` : whole;
    // Of the text and so not of our choosing, yet no text contains its own hash.
    return { path, text, secret: createHash('sha256').update(`${path}:${version}`).digest('hex').slice(0, 10) };
  }
  return undefined;
}

/** A folder with a SKILL.md that describes itself, or a file that is its own description. */
async function skillsIn(files: Pick<Files, 'readText' | 'list'>, folder: string): Promise<ProjectNotes['skills']> {
  const listed = await files.list(folder, { limit: MOST_SKILLS * 2 });
  if (!listed.ok) return [];
  const found = listed.value.entries.map(async ({ name, type }) => {
    if (type === 'file')
      return { path: `${folder}/${name}`, about: name.endsWith('.md') ? await about(`${folder}/${name}`) : '' };
    const path = `${folder}/${name}/SKILL.md`;
    const described = await about(path);
    return described === undefined ? undefined : { path, about: described };
  });
  return (await Promise.all(found))
    .filter((skill) => skill !== undefined)
    .map((skill) => ({ ...skill, about: skill.about ?? '' }));

  async function about(path: string): Promise<string | undefined> {
    const read = await files.readText(path);
    if (!read.ok) return undefined;
    const described = /^---\n[\s\S]*?^description:[ \t]*(.+)$[\s\S]*?^---$/m.exec(read.value.text.slice(0, 4000));
    return (described?.[1] ?? '').trim().slice(0, 300);
  }
}
