import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { TestServer } from '../../server/test-server.ts';
import type { Flow } from './approval-flows.ts';

/** Flows about what a yes covers and what a person is shown of a question. */
export const ALWAYS_FLOWS: Readonly<Record<string, Flow>> = {
  async 'apr.always-method'(_server, { workspace, folder }) {
    const methods: string[] = [];
    const site = createServer((request, response) => {
      methods.push(`${request.method}`);
      response.end('a page');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    const flags = { privateHosts: host };
    await using server = await TestServer.start({ workspaces: [workspace], home: join(folder, 'tmp'), flags });
    try {
      const url = `http://${host}/page`;
      const { call, approval } = await server.ask({ url }, 'web_fetch');
      const yes = await server.post(`/v1/approvals/${approval.id}/approve`, { always: true });
      await server.ended(call.id);
      const again = await server.post('/v1/explain', { tool: 'web_fetch', args: { url } });
      if (yes.status !== 200 || again.body.verdict !== 'allow')
        return { outcome: 'error', wrong: 'the yes was not saved' };
      await server.ask({ url, method: 'POST', body: 'one' }, 'web_fetch');
      return { outcome: 'ask', wrong: methods.join() === 'GET' ? null : `the service got ${methods.join()}` };
    } finally {
      site.close();
    }
  },

  async 'apr.parts-raw'(server) {
    const { approval } = await server.ask({ command: 'git push origin "\u202egpj.nigro"; npm ci' }, 'bash');
    const { body } = await server.get(`/v1/approvals/${approval.id}`);
    const shown = JSON.stringify([body.preview, body.verdicts, body.summary, body.reason, body.whyNoRule]);
    const isTold = shown.includes('202e') ? null : 'nothing tells of the character';
    return { outcome: 'ask', wrong: shown.includes('\u202e') ? 'the character stands there as it is' : isTold };
  },
};
