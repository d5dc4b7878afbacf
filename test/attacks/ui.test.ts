import { afterAll } from 'vitest';
import { closeBrowser } from '../app/browser.ts';
import { attackGroups } from './attack-groups.ts';
import { defineAttackTests } from './define-attack-tests.ts';

afterAll(closeBrowser);

defineAttackTests(attackGroups.ui);
