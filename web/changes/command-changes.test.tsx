import { renderToString } from 'react-dom/server';
import { beforeAll, expect, test } from 'vitest';
import type { KeptChangesView } from '../../src/protocol/changes.ts';

// The page reads these when it starts.
beforeAll(() => {
  const store = { getItem: () => 'en', setItem: () => undefined };
  Object.assign(globalThis, {
    localStorage: store,
    document: { documentElement: {} },
    location: { origin: 'http://127.0.0.1:8665', pathname: '/' },
    window: { addEventListener: () => undefined },
  });
});

const NOTHING: KeptChangesView = {
  ...{ state: 'discarded', counts: { created: 0, modified: 0, deleted: 0, repository: 0 } },
  ...{ created: [], modified: [], deleted: [], protected: [], total: 0, reason: null },
};

async function shown(kept: Partial<KeptChangesView>): Promise<string> {
  const { CommandChanges } = await import('./command-changes.tsx');
  const call = { id: 'c1', keeping: null } as never;
  const html = renderToString(<CommandChanges call={call} kept={{ ...NOTHING, ...kept }} />);
  return html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

test('what was not kept is shown with its diff', async () => {
  const text = await shown({
    modified: ['a.txt'],
    notKept: [{ path: 'a.txt', text: '@@ -1 +1 @@\n-old words\n+new words' }],
  });
  expect(text).toMatch(/It would have changed:.*a\.txt.*old words.*new words/);
});

test('an odd name is shown with its line break written out, and chosen exactly', async () => {
  const { ChangesList } = await import('./changes-list.tsx');
  const { ALL_TICKED, toSelection } = await import('./changes-selection.ts');
  const path = 'd\u202e/a.txt\nb';
  const items = [{ path, shown: 'd\\u202e/a.txt\\nb', kind: 'created', class: 'new' } as const];
  const html = renderToString(<ChangesList items={items} repository={[]} />);
  expect(html).toContain('d\\u202e/a.txt\\nb');
  expect(html.replace(/data-change="[^"]*"/g, '')).not.toContain('a.txt\nb');
  expect(toSelection(ALL_TICKED, items)).toEqual({ paths: [path] });
});

test('all deletions are shown, folders with the number of paths for which they stand', async () => {
  const deleted = [{ path: 'lib', entries: 40 }, { path: 'gen', inside: 2_000 }, { path: 'a\u202eb.txt' }];
  const text = await shown({ state: 'kept', total: 3, deleted });
  expect(text).toMatch(/Deleted lib\/ \(40 entries\) gen\/ \(2000 in it\) a\\u202eb\.txt/);
});
