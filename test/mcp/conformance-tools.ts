import { setTimeout as sleep } from 'node:timers/promises';
import type { ElicitResult, InputRequests } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { fail, ok, type Result } from '../../src/kernel/result.ts';
import { type Attachment, defineTool, type Tool, type ToolContext } from '../../src/kernel/tool/tool.ts';
import type { ClientAnswers } from '../../src/mcp/server/client-call.ts';
import type { McpCaller } from '../../src/mcp/server/door.ts';

/** The tools that the official conformance suite calls by name, written as our own tools are. */

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const image: Attachment = { kind: 'image', mimeType: 'image/png', data: PIXEL };

function caller(ctx: ToolContext): McpCaller {
  return ctx.metadata['mcp'] as McpCaller;
}

function plain(
  name: string,
  run: (ctx: ToolContext) => Promise<Result<unknown>> | Result<unknown>,
  attachments: readonly Attachment[] = [],
): Tool {
  return defineTool({
    name,
    description: `For the conformance suite: ${name}`,
    input: z.object({}),
    access: () => [],
    run: (_input, ctx) => run(ctx),
    attachments: () => attachments,
  }) as Tool;
}

/** Asks the client and says what it answered. */
function asking(name: string, requests: InputRequests, say: (answers: ClientAnswers) => string): Tool {
  return plain(name, async (ctx) => ok(say(await caller(ctx).ask(requests))));
}

function form(
  message: string,
  properties: object,
  required: string[] = Object.keys(properties),
): InputRequests[string] {
  const requestedSchema = { type: 'object', properties, required } as never;
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

const text = { type: 'string' };
const nameForm = (message: string) => form(message, { name: text });
const roots: InputRequests[string] = { method: 'roots/list', params: {} };

function sampling(words: string, maxTokens: number): InputRequests[string] {
  const content = { type: 'text' as const, text: words };
  return { method: 'sampling/createMessage', params: { messages: [{ role: 'user', content }], maxTokens } };
}

const completed = ({ form: answer }: ClientAnswers) => {
  const { action, content } = answer as ElicitResult;
  return `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`;
};

const json = (answers: ClientAnswers) => JSON.stringify(answers);

const choices = (prefix: string, word: string) =>
  ['First', 'Second', 'Third'].map((title, index) => ({ const: `${prefix}${index + 1}`, title: `${title} ${word}` }));
const options = ['option1', 'option2', 'option3'];

export const conformanceTools: readonly Tool[] = [
  plain('test_simple_text', () => ok('This is a simple text response for testing.')),
  plain('test_image_content', () => ok(''), [image]),
  plain('test_audio_content', () => ok(''), [{ kind: 'audio', mimeType: 'audio/wav', data: SILENCE }]),
  plain('test_embedded_resource', () => ok(''), [
    {
      kind: 'resource',
      uri: 'test://embedded-resource',
      mimeType: 'text/plain',
      text: 'This is an embedded resource content.',
    },
  ]),
  plain('test_multiple_content_types', () => ok('Multiple content types test:'), [
    image,
    {
      kind: 'resource',
      uri: 'test://mixed-content-resource',
      mimeType: 'application/json',
      text: '{"test":"data","value":123}',
    },
  ]),
  plain('test_error_handling', () => fail('EXECUTION_ERROR', 'This tool intentionally returns an error for testing')),
  plain('test_tool_with_logging', async (ctx) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await caller(ctx).request.log('info', data);
      await sleep(50);
    }
    return ok('logged');
  }),
  plain('test_tool_with_progress', async (ctx) => {
    for (const percent of [0, 50, 100]) {
      ctx.progress({ percent, message: `${percent} of 100` });
      await sleep(50);
    }
    return ok('done');
  }),
  defineTool({
    name: 'test_sampling',
    description: 'For the conformance suite: asks the client for a sample',
    input: z.object({ prompt: z.string() }),
    access: () => [],
    async run({ prompt }, ctx) {
      const { sample } = await caller(ctx).ask({ sample: sampling(prompt, 100) });
      return ok(`LLM response: ${(sample as { content: { text: string } }).content.text}`);
    },
  }) as Tool,
  defineTool({
    name: 'test_elicitation',
    description: 'For the conformance suite: asks the user',
    input: z.object({ message: z.string() }),
    access: () => [],
    async run({ message }, ctx) {
      const field = (description: string) => ({ type: 'string', description });
      const asked = form(message, { username: field("User's response"), email: field("User's email address") });
      const answers = await caller(ctx).ask({ form: asked });
      const { action, content } = answers['form'] as ElicitResult;
      return ok(`User response: <action: ${action}, content: ${JSON.stringify(content)}>`);
    },
  }) as Tool,
  asking(
    'test_elicitation_sep1034_defaults',
    {
      form: form('Defaults', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
    },
    completed,
  ),
  asking(
    'test_elicitation_sep1330_enums',
    {
      form: form('Enums', {
        untitledSingle: { type: 'string', enum: options },
        titledSingle: { type: 'string', oneOf: choices('value', 'Option') },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
        titledMulti: { type: 'array', items: { anyOf: choices('value', 'Choice') } },
      }),
    },
    completed,
  ),
  asking('test_input_required_result_elicitation', { user_name: nameForm('What is your name?') }, (answers) => {
    const { content } = answers['user_name'] as ElicitResult;
    return `Hello, ${content?.['name']}!`;
  }),
  asking(
    'test_input_required_result_sampling',
    { capital_question: sampling('What is the capital of France?', 100) },
    json,
  ),
  asking('test_input_required_result_list_roots', { client_roots: roots }, json),
  asking(
    'test_input_required_result_request_state',
    { confirm: form('Please confirm', { ok: { type: 'boolean' } }) },
    () => 'state-ok',
  ),
  asking(
    'test_input_required_result_tampered_state',
    { confirm: form('Please confirm', { ok: { type: 'boolean' } }) },
    () => 'state-ok',
  ),
  asking(
    'test_input_required_result_multiple_inputs',
    {
      user_name: nameForm('What is your name?'),
      greeting: sampling('Generate a greeting', 50),
      client_roots: roots,
    },
    json,
  ),
  plain('test_input_required_result_multi_round', async (ctx) => {
    const first = await caller(ctx).ask({ step1: nameForm('Step 1: What is your name?') });
    const second = await caller(ctx).ask({ step2: form('Step 2: What is your favorite color?', { color: text }) });
    return ok(JSON.stringify({ ...first, ...second }));
  }),
  plain('test_input_required_result_capabilities', async (ctx) => {
    const { capabilities, ask } = caller(ctx);
    const requests = {
      ...(capabilities.elicitation !== undefined && { user_name: nameForm('What is your name?') }),
      ...(capabilities.sampling !== undefined && { greeting: sampling('Generate a greeting', 50) }),
      ...(capabilities.roots !== undefined && { client_roots: roots }),
    };
    return ok(Object.keys(requests).length === 0 ? 'nothing to ask' : json(await ask(requests)));
  }),
  asking('test_missing_capability', { sample: sampling('Anything', 10) }, json),
  plain('test_streaming_elicitation', async (ctx) => {
    ctx.progress({ percent: 10, message: 'before the question' });
    return ok(json(await caller(ctx).ask({ user_name: nameForm('What is your name?') })));
  }),
  plain('test_logging_tool', async (ctx) => {
    await caller(ctx).request.log('info', 'a message');
    return ok('logged if wanted');
  }),
];
