// The conformance fixture behind our own door: `node --import tsx conformance-server.ts` prints its URL.
import { type InputRequests, inputRequired, type Server } from '@modelcontextprotocol/server';
import { fail, ok } from '../../src/kernel/result.ts';
import type { Resources } from '../../src/mcp/server/resources.ts';
import { conformanceTools, PIXEL } from './conformance-tools.ts';
import { openDoor, overHttp } from './open-door.ts';

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

const resources: Resources = {
  templates: [
    {
      uriTemplate: 'test://template/{id}/data',
      name: 'template',
      description: 'A template',
      mimeType: 'application/json',
    },
  ],
  list: async () =>
    ok(
      ['static-text', 'static-binary', 'watched-resource'].map((name) => ({
        uri: `test://${name}`,
        name,
        description: `For the conformance suite: ${name}`,
      })),
    ),
  async read(uri) {
    if (uri === 'test://static-text' || uri === 'test://watched-resource') {
      return ok([{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }]);
    }
    if (uri === 'test://static-binary') return ok([{ uri, mimeType: 'image/png', blob: PIXEL }]);
    const id = TEMPLATE.exec(uri)?.[1];
    if (id === undefined) return fail('FILE_NOT_FOUND', 'Resource not found');
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return ok([{ uri, mimeType: 'application/json', text }]);
  },
  watch: () => () => {},
};

const user = (content: object) => ({ role: 'user' as const, content }) as never;
const words = (text: string) => user({ type: 'text', text });

/** Features that our door does not serve itself; the product has no prompts. */
function extend(server: Server): void {
  server.registerCapabilities({ prompts: {}, completions: {}, logging: {} });
  server.setRequestHandler('completion/complete', () => ({ completion: { values: ['paris', 'park'], total: 2 } }));
  server.setRequestHandler('prompts/list', () => ({
    prompts: [
      { name: 'test_simple_prompt', description: 'Simple' },
      {
        name: 'test_prompt_with_arguments',
        description: 'With arguments',
        arguments: [
          { name: 'arg1', required: true },
          { name: 'arg2', required: true },
        ],
      },
      {
        name: 'test_prompt_with_embedded_resource',
        description: 'With a resource',
        arguments: [{ name: 'resourceUri', required: true }],
      },
      { name: 'test_prompt_with_image', description: 'With an image' },
      { name: 'test_input_required_result_prompt', description: 'Asks first' },
    ],
  }));
  server.setRequestHandler('prompts/get', ({ params }, ctx) => {
    const { name, arguments: args = {} } = params;
    const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
    const resource = {
      uri: args['resourceUri'],
      mimeType: 'text/plain',
      text: 'Embedded resource content for testing.',
    };
    switch (name) {
      case 'test_simple_prompt':
        return { messages: [words('This is a simple prompt for testing.')] };
      case 'test_prompt_with_arguments':
        return { messages: [words(`Prompt with arguments: arg1='${args['arg1']}', arg2='${args['arg2']}'`)] };
      case 'test_prompt_with_embedded_resource':
        return {
          messages: [user({ type: 'resource', resource }), words('Please process the embedded resource above.')],
        };
      case 'test_prompt_with_image':
        return { messages: [user(image), words('Please analyze the image above.')] };
      default: {
        const given = ctx.mcpReq.inputResponses?.['user_context'];
        if (given !== undefined) return { messages: [words(`Context: ${JSON.stringify(given)}`)] };
        const requestedSchema = {
          type: 'object' as const,
          properties: { context: { type: 'string' as const } },
          required: ['context'],
        };
        const params = { mode: 'form' as const, message: 'What context should the prompt use?', requestedSchema };
        const inputRequests: InputRequests = { user_context: { method: 'elicitation/create', params } };
        return inputRequired({ inputRequests });
      }
    }
  });
}

const { door } = openDoor({
  tools: conformanceTools,
  more: { resources, extend, name: 'conformance', instructions: 'A fixture for the conformance suite' },
});
const { url } = await overHttp(door);
console.log(url.href);
