import { z } from 'zod';
import { ToolCategory } from '../kernel/tool/category.ts';

export const tool = z
  .object({
    name: z.string(),
    description: z.string(),
    category: z.string(),
    enabled: z.boolean(),
    source: z.string().describe('built-in, or where it comes from'),
    effect: z.enum(['pure', 'idempotent', 'once']),
  })
  .meta({ id: 'Tool' });
export type ToolView = z.infer<typeof tool>;

export const toolDetail = tool
  .extend({
    inputSchema: z.record(z.string(), z.unknown()),
    outputSchema: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'ToolDetail' });

export const toolQuery = z.strictObject({ category: z.enum(ToolCategory).optional() });
export const toolList = z.object({ items: z.array(tool) }).meta({ id: 'ToolList' });
export const switchTool = z.strictObject({ enabled: z.boolean() }).meta({ id: 'SwitchTool' });

export const schemaQuery = z.strictObject({
  format: z.string().default('openai').describe('openai, openai-responses, anthropic or json-schema'),
  category: z.enum(ToolCategory).optional(),
});
export const schemaList = z
  .object({ format: z.string(), items: z.array(z.record(z.string(), z.unknown())) })
  .meta({ id: 'SchemaList' });
