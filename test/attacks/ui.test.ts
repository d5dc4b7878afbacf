import { afterAll } from 'vitest';
import { closeBrowser } from '../app/browser.ts';
import { heldOff } from './held-off.ts';
import { meantFor } from './meant-for.ts';

afterAll(closeBrowser);

heldOff(meantFor.ui);
