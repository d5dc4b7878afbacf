import { afterAll } from 'vitest';
import { closeBrowser } from '../app/browser.ts';
import { heldOff } from './define-attack-tests.ts';
import { meantFor } from './attack-groups.ts';

afterAll(closeBrowser);

heldOff(meantFor.ui);
