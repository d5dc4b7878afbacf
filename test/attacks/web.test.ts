import { attackGroups } from './attack-groups.ts';
import { defineAttackTests } from './define-attack-tests.ts';

defineAttackTests(attackGroups.web);
