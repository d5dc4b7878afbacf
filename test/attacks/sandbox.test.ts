import { heldOff } from './held-off.ts';
import { meantFor } from './meant-for.ts';

heldOff(meantFor.sandbox);
