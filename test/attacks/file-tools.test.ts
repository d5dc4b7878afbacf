import type { Attack } from './attack.ts';
import { attackGroups } from './attack-groups.ts';
import { defineAttackTests } from './define-attack-tests.ts';

const isRoot = process.getuid?.() === 0;

defineAttackTests((attack) => attackGroups.fileTools(attack) && canBeSetUp(attack));

/** Only root may mount the small file system that some cases begin with; an ordinary user meets all the others. */
function canBeSetUp({ setup }: Attack): boolean {
  return isRoot || !setup.some((line) => /\bmount -t\b/.test(line));
}
