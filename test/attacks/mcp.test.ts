import { heldOff } from './define-attack-tests.ts';
import { meantFor } from './attack-groups.ts';

heldOff(meantFor.mcp);
