import { z } from 'zod';

export const pathDecisionKind = z
  .enum(['no-secret', 'commands', 'agreed-text'])
  .describe('no-secret: any tool uses it; commands: only commands see it; agreed-text: mode strict runs this text');
