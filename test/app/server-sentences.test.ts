import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inChinese } from '../../src/protocol/in-chinese.ts';
import { TestServer } from '../server/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: { deny: 'bash(git push *)', ask: 'bash(git fetch *)' } });
});
afterAll(() => server[Symbol.asyncDispose]());

const LATIN_WORD = /[a-z]{2,}/;
/** Removes the parts that may stay in Latin letters: names, paths, commands and modes. */
const without = (text: string, names: readonly string[]) =>
  names.reduce((rest, name) => rest.replaceAll(name, ''), text);

describe('the reason for an approval is in Chinese', () => {
  test.each<[string, Record<string, string>, string[]]>([
    ['write_file', { path: 'a.txt', content: 'two' }, ['a.txt']],
    ['delete_file', { path: 'a.txt' }, ['a.txt']],
    ['write_file', { path: '.claude/x', content: 'x' }, ['.claude/x', 'Claude Code']],
    ['bash', { command: 'npm ci && make' }, ['npm ci', 'make']],
    ['bash', { command: 'git fetch origin' }, ['bash(git fetch *)']],
    ['bash', { command: 'docker ps' }, ['docker']],
    ['bash', { command: 'npm publish' }, ['npm publish', 'publish']],
    ['web_fetch', { url: 'https://example.com' }, ['example.com']],
  ])('%s %j', async (tool, args, names) => {
    const { approval } = await server.ask(args, tool);
    const { body } = await server.get(`/v1/approvals/${approval.id}`);
    const reasons: string[] = [body.reason, ...body.verdicts.map(({ reason }: { reason: string }) => reason)];
    expect(reasons.map((reason) => without(inChinese(reason), names))).not.toContainEqual(
      expect.stringMatching(LATIN_WORD),
    );
  });
});

describe('the reason of a refusal or failure is in Chinese', () => {
  test.each<[string, Record<string, string>, string]>([
    ['read_file', { path: '../x' }, '拒绝访问：../x 在工作区之外。请使用相对于工作区根目录的路径。'],
    [
      'read_file',
      { path: '.env' },
      '不能使用 .env：环境变量文件中有机密。可以由人放行：在页面上，或运行 toolwright paths no-secret .env（只给命令用：paths free）。',
    ],
    ['read_file', { path: 'none' }, '没有文件 none。可用 list_directory 或 glob 查看，或用 write_file 创建它。'],
    ['read_file', {}, '缺少必需的参数：path'],
    ['bash', { command: 'git push origin' }, '规则 bash(git push *) 拒绝它。'],
    ['bash', { command: 'rm -rf /' }, '为安全起见已拒绝：它会删除 / 及其中的一切。'],
  ])('%s %j', async (tool, args, words) => {
    const { body } = await server.post('/v1/calls', { tool, args });
    expect(inChinese(body.outcome.text.replace(/^Error: /, ''))).toBe(words);
  });
});

test('a sentence without a translation stays in English, and names stay as they are', () => {
  expect(inChinese('Something new happened.')).toBe('Something new happened.');
  expect(inChinese('It would change It creates a new file..')).toBe('它会修改 It creates a new file.。');
});
