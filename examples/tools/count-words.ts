import { defineTool, ok, ToolCategory } from 'toolwright';
import { z } from 'zod';

/** The object way to write a tool: what it takes, what it touches, what it does, what the model reads. */
export const countWords = defineTool({
  name: 'count_words',
  category: ToolCategory.OTHER,
  effect: 'pure',
  description: 'Count the words and characters of a text.',
  input: z.object({
    text: z.string().min(1).describe('The text to count'),
    language: z.enum(['en', 'zh']).default('en').describe('In Chinese every character is a word'),
  }),
  output: z.object({ words: z.int(), characters: z.int() }),

  summary: ({ text }) => `Count the words of a text of ${text.length} characters`,
  access: () => [],

  run({ text, language }) {
    const words = language === 'zh' ? (text.match(/\p{Script=Han}/gu) ?? []) : text.split(/\s+/).filter(Boolean);
    return ok({ words: words.length, characters: [...text].length });
  },

  render: ({ words, characters }) => `${words} words, ${characters} characters`,
});
