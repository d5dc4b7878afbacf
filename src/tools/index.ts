import type { Tool } from '../kernel/tool/tool.ts';
import { applyChanges } from './changes/apply-changes.ts';
import { runCode } from './code/run-code.ts';
import { applyPatch } from './fs/apply-patch.ts';
import { deleteFile } from './fs/delete-file.ts';
import { editFile } from './fs/edit-file.ts';
import { listDirectory } from './fs/list-directory.ts';
import { moveFile } from './fs/move-file.ts';
import { readFile } from './fs/read-file.ts';
import { writeFile } from './fs/write-file.ts';
import { readOutput } from './output/read-output.ts';
import { glob } from './search/glob.ts';
import { grep } from './search/grep.ts';
import { bash } from './shell/bash.ts';
import { processInput } from './shell/process-input.ts';
import { processKeep } from './shell/process-keep.ts';
import { processList } from './shell/process-list.ts';
import { processOutput } from './shell/process-output.ts';
import { processStop } from './shell/process-stop.ts';
import { webFetch } from './web/web-fetch.ts';
import { webSearch } from './web/web-search.ts';

/** Every built-in tool: a tool is one file and one line here. */
export const builtInTools: readonly Tool[] = [
  listDirectory,
  readFile,
  writeFile,
  editFile,
  applyPatch,
  deleteFile,
  moveFile,
  glob,
  grep,
  bash,
  runCode,
  processList,
  processOutput,
  processInput,
  processStop,
  processKeep,
  readOutput,
  webFetch,
  webSearch,
  applyChanges,
];
