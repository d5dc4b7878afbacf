import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import { ToolError } from '../kernel/error.ts';
import type { Tool } from '../kernel/tool/tool.ts';
import type { RuntimeOptions } from '../runtime/create-runtime.ts';
import { ToolExecutor } from '../runtime/executor.ts';
import { type AnyTool, ToolRegistry } from '../runtime/registry/registry.ts';
import { toAiSdkTool } from '../schema/ai-sdk.ts';
import { SCHEMA_FORMATS } from '../schema/formats.ts';
import { toLangChainTool } from '../schema/langchain.ts';
import type { ContractCheck } from './contract.ts';

export interface ToolContractOptions {
  /** Arguments with which the tool can run here. Without them, checks that need a run are skipped. */
  args?: unknown;
  workingDir?: string;
  /** Requirements of the tool: a store, blobs, an approver. */
  runtime?: RuntimeOptions;
  /** How long its work may continue after it was cancelled. */
  stopsWithinMs?: number;
}

/** Contract of every tool, for new tools as well. */
export function toolContract(given: AnyTool, options: ToolContractOptions = {}): ContractCheck[] {
  const { args, workingDir = '.', runtime = {}, stopsWithinMs = 2000 } = options;
  const registry = new ToolRegistry();
  registry.register(given);
  const [tool] = registry.offered() as [Tool];
  const executor = new ToolExecutor(registry, runtime);
  const context = new ExecutionContext({ workingDir });
  const named = (promise: string, run: ContractCheck['run']): ContractCheck => ({
    title: `${tool.name} ${promise}`,
    run,
  });

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
      assert.equal((await whereInstalled(toLangChainTool(tool, never)))?.name ?? tool.name, tool.name);
      const { description } = (await whereInstalled(toAiSdkTool(tool, never))) ?? tool;
      assert.equal(description, tool.description);
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
    named('honours dryRun: it says what it would do, and does not run', async () => {
      const { watched, runs } = watching(tool, runtime);
      const dry = new ExecutionContext({ workingDir, dryRun: true });
      const result = await watched.execute(tool.name, dry, args);
      assert.ok(result.ok && result.text.startsWith('[Dry Run]'), result.text);
      assert.equal(runs.length, 0);
    }),
    named('runs with the sample arguments, and answers with text and a value that fits its schema', async () => {
      const result = await executor.execute(tool.name, context, args);
      assert.ok(result.ok, result.text);
      assert.equal(typeof result.text, 'string');
      const value = JSON.parse(JSON.stringify(result.value ?? null));
      const fits = new Ajv2020({ strict: false }).compile(tool.outputJson ?? {});
      assert.ok(fits(value), `its value does not fit its output schema: ${JSON.stringify(fits.errors)}`);
    }),
    named('keeps its output within the bounds it is given', async () => {
      const tight = new ExecutionContext({ workingDir, maxOutputSize: 300 });
      const result = await executor.execute(tool.name, tight, args);
      assert.ok(result.text.length <= 300, `${result.text.length} characters`);
    }),
    named('stops its own work when it is told to', async () => {
      const { watched, runs } = watching(tool, runtime);
      const stop = new AbortController();
      const started = new Promise<void>((resolve) => watched.on(({ type }) => type === 'call.started' && resolve()));
      const running = watched.execute(tool.name, context, args, { signal: stop.signal });
      await Promise.race([started, running]);
      await new Promise(setImmediate);
      stop.abort();
      await running;
      const late = new Promise((_, reject) => setTimeout(reject, stopsWithinMs, new Error('it runs on')).unref());
      await Promise.race([Promise.allSettled(runs), late]);
    }),
  ];
}

/** An executor that keeps the promises of the tool's `run`, so that their end can be observed. */
function watching(tool: Tool, runtime: RuntimeOptions): { watched: ToolExecutor; runs: unknown[] } {
  const runs: unknown[] = [];
  const registry = new ToolRegistry();
  registry.register({
    ...tool,
    run(input, ctx) {
      const running = tool.run(input, ctx);
      runs.push(running);
      return running;
    },
  });
  return { watched: new ToolExecutor(registry, runtime), runs };
}

/** Skips a conversion whose library is not installed. */
function whereInstalled<T>(converted: Promise<T>): Promise<T | undefined> {
  return converted.catch((error) => {
    if (error instanceof ToolError && error.code === 'NOT_CONFIGURED') return undefined;
    throw error;
  });
}
