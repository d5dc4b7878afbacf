import { join } from 'node:path';
import { MODES } from '../../../src/policy/mode.ts';
import { treeHash } from '../check-asserts.ts';
import { openCommandWorld } from '../command-world.ts';
import type { Fixture } from '../fixture.ts';

/** In every mode the command is asked about or refused; after a yes, an undo brings back what it took. */
export async function repositoryIsNotLost(fixture: Fixture): Promise<string | null> {
  const { attack, workspace } = fixture;
  const tree = () => treeHash(join(workspace, '.git'));
  const before = tree();
  const allow = [`bash(${String(attack.input['command']).split(' ')[0]} *)`];
  for (const mode of MODES) {
    const replaced = { mode, allow: mode === 'strict' ? allow : [], ask: [] };
    await using world = await openCommandWorld(fixture, { approve: true, keep: false, replaced });
    const { ok, text, value } = await world.toolwright.call('bash', { ...attack.input });
    const { changed } = value as { changed?: { state: string; reason: string | null } };
    if (tree() !== before) return `in mode ${mode} it is gone`;
    if (!ok || changed?.state !== 'discarded' || changed.reason === null) return `in mode ${mode} it says: ${text}`;
    if (mode !== 'plan' && mode !== 'strict' && world.asked.length === 0) return `in mode ${mode} nobody was asked`;
  }
  const replaced = { mode: 'auto', ask: [] } as const;
  await using world = await openCommandWorld(fixture, { approve: true, keep: true, replaced });
  const { callId, text } = await world.toolwright.call('bash', { ...attack.input });
  if (tree() === before) return `a yes did not keep it: ${text}`;
  const undone = await world.undo(callId ?? '');
  if (!undone.ok) return `it cannot be undone: ${undone.error.message}`;
  return tree() === before ? null : 'the undo brought back something else';
}
