import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await TestServer.start();
});
afterEach(() => server[Symbol.asyncDispose]());

const content = () => readFileSync(join(server.workspace, 'a.txt'), 'utf8');

describe('a question over HTTP', () => {
  test('[E15] it has the step, the tool, the arguments, the reason and a preview of what would happen', async () => {
    const { call, approval } = await server.ask();
    expect(approval).toMatchObject({
      stepId: call.id,
      tool: 'write_file',
      args: { path: 'a.txt', content: 'two\n' },
      reason: expect.stringContaining('a.txt'),
      state: 'pending',
    });
    const { body } = await server.get(`/v1/approvals/${approval.id}`);
    expect(body.preview.find(({ kind }: { kind: string }) => kind === 'diff').text).toContain('-one\n+two');
    expect(body.verdicts).not.toEqual([]);
    expect(content()).toBe('one\n');
  });

  test('[E16] an approval runs the call once and is recorded with its author; a second answer is refused', async () => {
    const { call, approval } = await server.ask();
    const yes = await server.post(`/v1/approvals/${approval.id}/approve`);
    expect(yes).toMatchObject({ status: 200, body: { state: 'approved', decidedBy: 'owner' } });
    expect(await server.ended(call.id)).toMatchObject({ state: 'succeeded' });
    expect(content()).toBe('two\n');
    expect((await server.post(`/v1/approvals/${approval.id}/approve`)).status).toBe(409);
    expect((await server.post(`/v1/approvals/${approval.id}/deny`)).status).toBe(409);
  });

  test('an approval does not count when a rule or a switch refused the call meanwhile', async () => {
    const ruled = await server.ask({ command: 'touch made.txt; git push' }, 'bash');
    await server.post('/v1/rules', { rule: 'bash(touch *)', verdict: 'deny' });
    await server.post(`/v1/approvals/${ruled.approval.id}/approve`);
    expect(await server.ended(ruled.call.id)).toMatchObject({ state: 'denied' });
    const switched = await server.ask();
    await server.send('PATCH', '/v1/tools/write_file', { enabled: false });
    await server.post(`/v1/approvals/${switched.approval.id}/approve`);
    expect(await server.ended(switched.call.id)).toMatchObject({ outcome: { error: { code: 'TOOL_DISABLED' } } });
    expect(existsSync(join(server.workspace, 'made.txt'))).toBe(false);
    expect(content()).toBe('one\n');
  });

  test("a denial reaches the model with the person's message, and nothing runs", async () => {
    const { call, approval } = await server.ask();
    await server.post(`/v1/approvals/${approval.id}/deny`, { message: 'keep that file' });
    const ended = await server.ended(call.id);
    expect(ended).toMatchObject({ state: 'denied', outcome: { error: { code: 'APPROVAL_DENIED' } } });
    expect(ended.outcome.text).toContain('keep that file');
    expect(content()).toBe('one\n');
  });

  test('[E16] edited arguments are validated, judged and shown again, and the model is told what changed', async () => {
    const { call, approval } = await server.ask();
    const at = `/v1/approvals/${approval.id}`;
    const misfit = await server.post(`${at}/approve`, { modifiedArgs: { path: 'a.txt' } });
    expect(misfit).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', detail: expect.stringContaining('content') },
    });
    const outside = await server.post(`${at}/approve`, { modifiedArgs: { path: '../out.txt', content: 'x' } });
    expect([400, 403]).toContain(outside.status);
    const review = await server.post(`${at}/review`, { modifiedArgs: { path: 'a.txt', content: 'three\n' } });
    expect(review.body.changed).toEqual(['content']);
    expect(review.body.preview.find(({ kind }: { kind: string }) => kind === 'diff').text).toContain('+three');
    const { digest } = review.body;
    const yes = await server.post(`${at}/approve`, { modifiedArgs: { path: 'a.txt', content: 'three\n' }, digest });
    expect(yes.body).toMatchObject({ state: 'approved', changed: ['content'], args: { content: 'three\n' } });
    expect(yes.body.preview).toEqual(review.body.preview);
    const ended = await server.ended(call.id);
    expect(ended.outcome.warnings).toEqual([expect.stringContaining('changed content')]);
    expect(content()).toBe('three\n');
  });

  test('an edit is approved as reviewed: a later change of the file does not run', async () => {
    const { call, approval } = await server.ask();
    const at = `/v1/approvals/${approval.id}`;
    const modifiedArgs = { path: 'a.txt', content: 'three\n' };
    const unread = await server.post(`${at}/approve`, { modifiedArgs });
    expect(unread).toMatchObject({ status: 409, body: { detail: expect.stringContaining('were not reviewed') } });
    const review = await server.post(`${at}/review`, { modifiedArgs });
    const { digest } = review.body;
    const other = await server.post(`${at}/approve`, { modifiedArgs: { ...modifiedArgs, content: 'four\n' }, digest });
    expect(other.status).toBe(409);
    writeFileSync(join(server.workspace, 'a.txt'), 'edited by hand\n');
    const late = await server.post(`${at}/approve`, { modifiedArgs, digest });
    expect(late).toMatchObject({ status: 409, body: { detail: expect.stringContaining('Review the edited') } });
    expect(content()).toBe('edited by hand\n');
    const again = await server.post(`${at}/review`, { modifiedArgs });
    const yes = await server.post(`${at}/approve`, { modifiedArgs, digest: again.body.digest });
    expect(yes.status).toBe(200);
    expect(await server.ended(call.id)).toMatchObject({ state: 'succeeded' });
    expect(content()).toBe('three\n');
  });

  test('a call whose file changed since the preview does not run', async () => {
    const { call, approval } = await server.ask();
    writeFileSync(join(server.workspace, 'a.txt'), 'edited by hand\n');
    await server.post(`/v1/approvals/${approval.id}/approve`);
    const ended = await server.ended(call.id);
    expect(ended).toMatchObject({ state: 'denied' });
    expect(ended.outcome.text).toContain('has changed since');
    expect(content()).toBe('edited by hand\n');
  });

  test('[E17] a restart keeps the question, and the answer afterwards resumes the call', async () => {
    const { call, approval } = await server.ask();
    await server.stop();
    await server.start();
    const [kept] = await server.pending();
    expect(kept).toEqual(approval);
    expect(content()).toBe('one\n');
    await server.post(`/v1/approvals/${approval.id}/approve`);
    expect(await server.ended(call.id)).toMatchObject({ state: 'succeeded' });
    expect(content()).toBe('two\n');
  });

  test('after a restart approved edits run as edited, and a denial stays a denial', async () => {
    const first = await server.ask();
    const second = await server.ask({ path: 'a.txt', content: 'never\n' });
    await server.stop();
    await server.start();
    await server.post(`/v1/approvals/${second.approval.id}/deny`, { message: 'not now' });
    expect(await server.ended(second.call.id)).toMatchObject({ state: 'denied' });
    const modifiedArgs = { path: 'a.txt', content: 'edited\n' };
    const { body } = await server.post(`/v1/approvals/${first.approval.id}/review`, { modifiedArgs });
    await server.post(`/v1/approvals/${first.approval.id}/approve`, { modifiedArgs, digest: body.digest });
    const ended = await server.ended(first.call.id);
    expect(ended.outcome.warnings).toEqual([expect.stringContaining('changed content')]);
    expect(content()).toBe('edited\n');
  });

  test('after a restart a call whose file changed meanwhile does not run either', async () => {
    const { call, approval } = await server.ask();
    await server.stop();
    writeFileSync(join(server.workspace, 'a.txt'), 'another text\n');
    await server.start();
    await server.post(`/v1/approvals/${approval.id}/approve`);
    expect(await server.ended(call.id)).toMatchObject({ state: 'denied' });
    expect(content()).toBe('another text\n');
  });

  test('a call that was cancelled cannot be approved any more', async () => {
    const { call, approval } = await server.ask();
    expect((await server.post(`/v1/calls/${call.id}/cancel`)).status).toBe(202);
    expect(await server.ended(call.id)).toMatchObject({ state: 'cancelled' });
    expect(await server.post(`/v1/approvals/${approval.id}/approve`)).toMatchObject({ status: 410 });
    expect(content()).toBe('one\n');
  });

  test('a cancelled call cannot be approved either when the process that asked is gone', async () => {
    const { call, approval } = await server.ask();
    await server.stop();
    await server.start();
    expect((await server.post(`/v1/calls/${call.id}/cancel`)).status).toBe(202);
    expect(await server.ended(call.id)).toMatchObject({ state: 'cancelled' });
    expect(await server.post(`/v1/approvals/${approval.id}/approve`)).toMatchObject({ status: 410 });
  });
});

test('without an answer the request expires, and the call with it', async () => {
  await using short = await TestServer.start({ flags: { approvalTimeout: '0.3' } });
  const { call, approval } = await short.ask();
  const ended = await short.ended(call.id);
  expect(ended).toMatchObject({ state: 'expired', outcome: { error: { code: 'APPROVAL_EXPIRED' } } });
  expect((await short.get(`/v1/approvals/${approval.id}`)).body).toMatchObject({ state: 'expired', decidedBy: null });
  expect(await short.post(`/v1/approvals/${approval.id}/approve`)).toMatchObject({ status: 410 });
});

test('without an approver the call is refused at once', async () => {
  await using alone = await TestServer.start({ headless: true });
  const args = { path: 'a.txt', content: 'two\n' };
  const { body } = await alone.post('/v1/calls', { tool: 'write_file', args });
  expect(body).toMatchObject({ state: 'denied', outcome: { error: { code: 'APPROVAL_DENIED' } } });
  expect(body.outcome.text).toContain('no person can approve here');
});
