import { expect, test } from 'vitest';
import { ok } from '../kernel/result.ts';
import type { Files } from '../kernel/world/workspace.ts';
import { readProjectNotes } from './project-notes.ts';

/** As many skills in each of the two folders as there are texts; reads are recorded. */
function skillFiles(texts: readonly string[]): { files: Pick<Files, 'readText' | 'list'>; read: string[] } {
  const read: string[] = [];
  const entries = texts.map((_, at) => ({ name: `s${at}`, type: 'directory' }));
  const files = {
    list: async () => ok({ entries }),
    async readText(path: string) {
      read.push(path);
      return ok({ text: texts[Number(/\/s(\d+)\//.exec(path)?.[1])] ?? '', version: '1' });
    },
  };
  return { files: files as unknown as Pick<Files, 'readText' | 'list'>, read };
}

test.each([
  ['---\nname: a\ndescription:  What it does \n---\ntext', 'What it does'],
  ['# Title\n---\ndescription:\ndescription: second\n---\n', 'second'],
  ['---\ndescription: not closed\n', ''],
  ['---\nname: a\n---\n', ''],
  ['description: not opened\n---\n', ''],
])('of %j the description is %j', async (text, about) => {
  const { skills } = await readProjectNotes(skillFiles([text]).files);
  expect(skills[0]).toMatchObject({ path: '.claude/skills/s0/SKILL.md', about });
});

test('no more skills are read than shown, and front matter that is not closed does not hold them up', async () => {
  const text = `${'---\n'.repeat(333)}description:${' '.repeat(1300)}\n${'x\n'.repeat(680)}`;
  const hostile = skillFiles(Array.from({ length: 100 }, () => text));
  const started = performance.now();
  const { skills } = await readProjectNotes(hostile.files);
  expect(performance.now() - started).toBeLessThan(3_000);
  expect(skills).toHaveLength(50);
  expect(hostile.read.filter((path) => path.endsWith('SKILL.md'))).toHaveLength(50);
});
