import { z } from 'zod';

export const fileEntry = z
  .object({
    name: z.string().describe('Relative to the listed folder'),
    type: z.enum(['file', 'directory', 'symlink', 'other']),
    size: z.number(),
    modified: z.string(),
  })
  .meta({ id: 'FileEntry' });

const workspace = z.string().optional().describe('An id of /v1/health; left out: the first');

export const fileQuery = z.strictObject({
  path: z.string().max(4096).default('.'),
  workspace,
  recursive: z.enum(['true', 'false']).default('false'),
  hidden: z.enum(['true', 'false']).default('false'),
  limit: z.coerce.number().int().min(1).max(10_000).default(2000),
});
export const fileTree = z
  .object({ path: z.string(), entries: z.array(fileEntry), complete: z.boolean() })
  .meta({ id: 'FileTree' });

export const gitQuery = z.strictObject({ workspace });
/** `git` is false where there is no repository, or no sandbox to run git in. */
export const gitStatus = z
  .object({
    git: z.boolean(),
    files: z
      .array(
        z.object({
          path: z.string().describe('A folder that is untracked as a whole ends with a slash'),
          state: z.enum(['modified', 'added', 'deleted', 'untracked', 'conflict']),
        }),
      )
      .readonly(),
    complete: z.boolean(),
  })
  .meta({ id: 'GitStatus' });
export type GitStatusView = Omit<z.infer<typeof gitStatus>, 'git'>;

export const contentQuery = z.strictObject({ path: z.string().min(1).max(4096), workspace });

/** `version` is also the ETag. Text is exact; binary content is base64. */
export const fileContent = z
  .object({
    path: z.string(),
    content: z.string(),
    encoding: z.string().describe('Of the file: utf-8, gb18030 …; base64 when it is not text'),
    size: z.number(),
    modified: z.string(),
    version: z.string(),
  })
  .meta({ id: 'FileContent' });
export type FileContent = z.infer<typeof fileContent>;

export const readSecret = z.strictObject({ path: z.string().min(1).max(4096), workspace }).meta({ id: 'ReadSecret' });

/** It has no version: nothing is derived from a secret that could be kept. */
export const secretText = z
  .object({ path: z.string(), content: z.string(), encoding: z.string(), size: z.number(), modified: z.string() })
  .meta({ id: 'SecretText' });
export type SecretTextView = z.infer<typeof secretText>;

export const saveFile = z
  .strictObject({ content: z.string(), encoding: z.enum(['text', 'base64']).default('text') })
  // Otherwise invalid base64 would be dropped, and the rest saved.
  .refine(({ content, encoding }) => encoding === 'text' || isBase64(content), {
    path: ['content'],
    message: 'it is no base64: send base64, or leave encoding out',
  })
  .meta({ id: 'SaveFile' });
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

export const savedFile = z
  .object({ path: z.string(), size: z.number(), version: z.string(), created: z.boolean(), callId: z.string() })
  .meta({ id: 'SavedFile' });
