import { countByFolder, isProductSource, type SourceTree } from './source-tree.ts';
import type { Violation } from './violation.ts';

const MAX_FILES = 22;
/** A sub-folder with this many source files has a contract of its own. */
const FILES_WITH_CONTRACT = 8;

export function judgeFolders(tree: SourceTree): Violation[] {
  return [...judgeSizes(tree), ...judgeReadmes(tree)];
}

function judgeSizes(tree: SourceTree): Violation[] {
  return [...countByFolder(tree)]
    .filter(([, files]) => files > MAX_FILES)
    .map(([place, size]) => ({ rule: 'folder size', place, size }));
}

function judgeReadmes(tree: SourceTree): Violation[] {
  const sources = tree.paths.filter(isProductSource);
  const firstLevel = sources.map((path) => /^(?:web|src\/[^/]+)(?=\/)/.exec(path)?.[0]);
  const large = [...countByFolder(tree)]
    .filter(([folder, files]) => folder.startsWith('src/') && files >= FILES_WITH_CONTRACT)
    .map(([folder]) => folder);
  const folders = [...new Set([...firstLevel, ...large])].filter((folder) => folder !== undefined);
  return folders
    .filter((folder) => !tree.paths.includes(`${folder}/README.md`))
    .map((place) => ({ rule: 'missing readme', place, size: 1 }));
}
