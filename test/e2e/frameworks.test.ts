import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;
const run = promisify(execFile);
const mock = new LLMock({ port: 0, host: '127.0.0.1' });
const args = JSON.stringify({ text: 'the quick brown fox' });

beforeAll(async () => {
  mock.onToolResult('call_1', { content: 'It has four words.' });
  mock.onMessage('How many words', { toolCalls: [{ name: 'count_words', arguments: args, id: 'call_1' }] });
  await mock.start();
});
afterAll(() => mock.stop());

test.each([
  ['openai', 'It has four words.'],
  ['anthropic', 'It has four words.'],
  ['ai-sdk', 'It has four words.'],
  ['langchain', '4 words'],
])(
  "the example with %s runs: the framework's model asks, our executor runs and records",
  async (name, said) => {
    const env = {
      ...process.env,
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: `${mock.url}/v1`,
      ANTHROPIC_API_KEY: 'none',
      ANTHROPIC_BASE_URL: mock.url,
    };
    const { stdout } = await run(process.execPath, ['--import', 'tsx', `examples/frameworks/${name}.ts`], {
      cwd: root,
      env,
    });
    expect(stdout).toContain(said);
    expect(stdout).toContain('count_words: succeeded, 4 words');
  },
  60_000,
);
