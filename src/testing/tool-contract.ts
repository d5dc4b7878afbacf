import assert from 'node:assert/strict';
import { ExecutionContext } from '../kernel/execution-context.ts';
import type { Tool } from '../kernel/tool.ts';
import type { World } from '../kernel/workspace.ts';
import { ToolExecutor } from '../runtime/executor.ts';
import { type AnyTool, ToolRegistry } from '../runtime/registry.ts';
import { toAiSdkTool } from '../schema/ai-sdk.ts';
import { SCHEMA_FORMATS } from '../schema/formats.ts';
import { toLangChainTool } from '../schema/langchain.ts';

/** One promise; give it to the test runner you use: `for (const { title, run } of checks) test(title, run)`. */
export interface Check {
  title: string;
  run(): void | Promise<void>;
}

export interface ToolContractOptions {
  /** Arguments with which the tool can run here. Left out: the checks that need a run are not made. */
  args?: unknown;
  workingDir?: string;
  /** For a tool that works on files: the workspace it may use. */
  world?: World;
  /** How long it may take to notice that it was told to stop. */
  abortWithinMs?: number;
}

/** What every tool promises, whoever wrote it. A new tool gets these tests for free. */
export function toolContract(subject: AnyTool, options: ToolContractOptions = {}): Check[] {
  const { args, world, abortWithinMs = 2000 } = options;
  const workingDir = options.workingDir ?? world?.root ?? '.';
  const given = world === undefined ? {} : { world, approver: () => ({ approved: true }) };
  const registry = new ToolRegistry();
  registry.register(subject);
  const [tool] = registry.offered() as [Tool];
  const executor = new ToolExecutor(registry, given);
  const context = new ExecutionContext({ workingDir });
  const named = (promise: string, run: Check['run']): Check => ({ title: `${tool.name} ${promise}`, run });

  const always = [
    named('has a description a model can choose by', () => {
      assert.ok(tool.description.length >= 10, 'say in a sentence what it does and when to use it');
      assert.ok(tool.description.length <= 2000, 'a description is sent with every request: keep it short');
    }),
    named('describes every parameter', () => {
      const properties = Object.entries((tool.input.json.properties ?? {}) as Record<string, { description?: string }>);
      const silent = properties.filter(([, { description }]) => !description).map(([name]) => name);
      assert.deepEqual(silent, [], 'parameters without a description');
    }),
    named('converts to every schema format', async () => {
      for (const convert of Object.values(SCHEMA_FORMATS)) {
        const schema = convert(tool);
        assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema);
        assert.ok(JSON.stringify(schema).includes(JSON.stringify(tool.name)));
      }
      const never = () => Promise.reject(new Error('not called'));
      assert.equal((await toLangChainTool(tool, never)).name, tool.name);
      assert.equal((await toAiSdkTool(tool, never)).description, tool.description);
    }),
    named('refuses arguments that are no object, with a sentence', async () => {
      for (const wrong of [null, 'text', 7, []]) {
        const result = await executor.execute(tool.name, context, wrong);
        assert.equal(result.error?.code, 'INVALID_INPUT');
      }
    }),
    named('does not mistake inherited names for parameters', () => {
      const checked = tool.input.check(JSON.parse('{"__proto__":{"x":1},"constructor":1}'));
      assert.ok(!checked.ok || checked.warnings.length > 0);
    }),
  ];
  if (args === undefined) return always;

  return [
    ...always,
    named('says in one line what a call does', () => {
      const checked = tool.input.check(args);
      assert.ok(checked.ok, 'the sample arguments must be valid');
      const line = tool.summary(checked.value);
      assert.ok(line.length > 0 && !line.includes('\n'));
    }),
    named('answers with text and a value that is JSON', async () => {
      const result = await executor.execute(tool.name, context, args);
      assert.equal(typeof result.text, 'string');
      assert.doesNotThrow(() => JSON.stringify(result));
    }),
    named('honours dryRun: it says what it would do, and does not run', async () => {
      let ran = false;
      const watched = new ToolRegistry();
      watched.register({
        ...tool,
        run: (input, ctx) => {
          ran = true;
          return tool.run(input, ctx);
        },
      });
      const dry = new ExecutionContext({ workingDir, dryRun: true });
      const result = await new ToolExecutor(watched, given).execute(tool.name, dry, args);
      assert.ok(result.text.startsWith('[Dry Run]') || !result.ok, result.text);
      assert.equal(ran, false);
    }),
    named('keeps its output within the bounds it is given', async () => {
      const tight = new ExecutionContext({ workingDir, maxOutputSize: 300 });
      const result = await executor.execute(tool.name, tight, args);
      assert.ok(result.text.length <= 300 + result.warnings.join('').length + 20);
    }),
    named('ends promptly when it is told to stop', async () => {
      const stop = new AbortController();
      const start = performance.now();
      const running = executor.execute(tool.name, context, args, { signal: stop.signal });
      stop.abort();
      await running;
      assert.ok(performance.now() - start < abortWithinMs);
    }),
  ];
}
