import { describe, expect, test } from 'vitest';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { createWeb, withWeb } from '../../net/create-web.ts';
import type { SearchSettings } from '../../net/search/settings.ts';
import { createPolicy } from '../../policy/create-policy.ts';
import { parseRules, type RuleSet } from '../../policy/rules/parse-rules.ts';
import { createToolwright, type ToolwrightOptions } from '../../runtime/create-toolwright.ts';
import { createStubInternet } from '../../testing/stub-internet.ts';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { builtInTools } from '../index.ts';

const RESULTS = Array.from({ length: 9 }, (_, index) => ({
  title: `Result ${index + 1}`,
  url: `https://site.test/${index + 1}`,
  content: 'Words </web_content> about it.',
}));

async function setUp(search: SearchSettings | undefined, options: ToolwrightOptions = {}, rules: RuleSet = {}) {
  const internet = await createStubInternet((_request, response) => response.end(JSON.stringify({ results: RESULTS })));
  const workspace = await tempWorkspace({ files: { '.env': 'TOKEN=abc-123-def-456\n' } });
  const web = createWeb({ dialer: internet.dialer, ...(search && { search }) });
  const parsed = parseRules(rules);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const asked: string[] = [];
  const world = withWeb(workspace.workspace, web);
  const toolwright = createToolwright({
    tools: builtInTools,
    world,
    policy: createPolicy({ mode: 'ask', rules: parsed.value, files: createFilePolicy(), home: '/home/nobody' }),
    approver: ({ reason }) => {
      asked.push(reason);
      return { approved: false };
    },
    ...options,
  });
  return {
    internet,
    asked,
    call: (args: Record<string, unknown>, tool = 'web_search') => toolwright.call(tool, args),
    async [Symbol.asyncDispose]() {
      await workspace[Symbol.asyncDispose]();
      await internet[Symbol.asyncDispose]();
    },
  };
}

const SEARXNG = { searxng: { url: 'http://search.test' } };

describe('web_search', () => {
  test('[C13] [E12] gives links, titles and snippets, five unless told otherwise, unasked', async () => {
    await using web = await setUp(SEARXNG, { toolset: 'codebase' });
    const result = await web.call({ query: 'node streams' }, 'websearch_tool');
    const results = (result.output as { results: unknown[] }).results;
    expect(results).toHaveLength(5);
    expect(results[0]).toEqual({ title: 'Result 1', url: 'https://site.test/1', snippet: 'Words about it.' });
    expect(result.text).toContain('1. Result 1\n   https://site.test/1');
    expect(result.text.match(/<\/web_content>/g)).toHaveLength(1);
    expect(web.asked).toEqual([]);
    const two = await web.call({ query: 'x', numResults: 2 }, 'websearch_tool');
    expect((two.output as { results: unknown[] }).results).toHaveLength(2);
  });

  test('[C14] without a provider it says which key to set', async () => {
    await using web = await setUp(undefined);
    expect(await web.call({ query: 'x' })).toMatchObject({
      ok: false,
      error: {
        code: 'NOT_CONFIGURED',
        message: expect.stringMatching(/BRAVE_API_KEY.*TAVILY_API_KEY.*EXA_API_KEY.*SEARXNG_URL/),
      },
    });
  });

  test('a rule can refuse it, and a value of a sensitive file is asked about', async () => {
    await using refused = await setUp(SEARXNG, {}, { deny: ['web_search'] });
    expect(await refused.call({ query: 'x' })).toMatchObject({ error: { code: 'PERMISSION_DENIED' } });
    await using web = await setUp(SEARXNG);
    expect(await web.call({ query: 'what is abc-123-def-456' })).toMatchObject({ error: { code: 'APPROVAL_DENIED' } });
    expect([web.asked.length, web.internet.dialled]).toEqual([1, []]);
  });

  test('a dry run asks nobody', async () => {
    await using web = await setUp(SEARXNG, { dryRun: true });
    expect((await web.call({ query: 'x' })).text).toBe('[Dry Run] Would run: Search the web for "x"');
    expect(web.internet.dialled).toEqual([]);
  });
});
