import { expect, test } from 'vitest';
import { createPathDecisions } from './path-decision-list.ts';
import type { PathDecision } from './path-decisions.ts';

const about = (path: string, workspace = '/ws', by = 'ana'): PathDecision => {
  return { workspace, path, kind: 'no-secret', digest: null, by, at: '2026-01-01T00:00:00.000Z' };
};

test('decisions hold for their path and all below it, in their workspace, until they are replaced', () => {
  const decisions = createPathDecisions([about('.env'), about('fixtures'), about('.env', '/other')]);
  expect(decisions.of('/ws', '.env')).toEqual([about('.env')]);
  expect(decisions.of('/ws', 'fixtures/deep/key.pem')).toEqual([about('fixtures')]);
  expect(decisions.of('/ws', './fixtures')).toHaveLength(1);
  for (const path of ['fixtures2', 'a/.env', 'fixtures/../.env', '../ws/.env'])
    expect(decisions.of('/ws', path), path).toEqual([]);
  expect(decisions.of('/nowhere', '.env')).toEqual([]);
  decisions.set([about('fixtures')]);
  expect(decisions.of('/ws', '.env')).toEqual([]);
  expect(decisions.of('/other', '.env')).toEqual([]);
});

test('who asked is told of the workspaces whose decisions changed, and of no others', () => {
  const decisions = createPathDecisions([about('.env'), about('.env', '/other')]);
  const told: string[] = [];
  const stop = decisions.onChange((workspace) => told.push(workspace));
  decisions.set([about('.env'), about('.env', '/other')]);
  expect(told).toEqual([]);
  decisions.set([about('.env', '/ws', 'bob'), about('.env', '/other')]);
  decisions.set([about('.env', '/ws', 'bob')]);
  expect(told).toEqual(['/ws', '/other']);
  stop();
  decisions.set([]);
  expect(told).toHaveLength(2);
});
