/** Errors of programs that only a run in here meets, with the way around each. */
const STAGE_HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /cross-device link|EXDEV/i,
    'A folder that was there before the command cannot be renamed by rename(2) here: use mv, or move_file.',
  ],
  [
    /Value too large for defined data type|EOVERFLOW/,
    'A file of another user cannot be changed here: ask its owner, or change it outside Toolwright.',
  ],
  [
    /Author identity unknown|Committer identity unknown|Please tell me who you are/,
    'Your git configuration has no usable name or e-mail address for commits. Type both once, outside Toolwright: ' +
      'git config --global user.name "Your Name"; git config --global user.email "you@example.org". Then repeat the command.',
  ],
  [
    /\/worktrees\/.*Read-only file system/,
    'The workspace is a linked worktree, and git keeps its data outside of it: here git reads that data and writes none. Add and ' +
      'commit outside Toolwright, or work in the main repository or a clone of its own.',
  ],
  [
    /not a git repository: \//,
    "The .git file of the workspace leads to git's data outside of it, which is not shown here: that of a submodule, of a worktree " +
      'that was moved (git worktree repair), or with a password in its configuration or with submodules. Work in the main repository or a clone of its own.',
  ],
  [
    /Permission denied\nerror: unable to index file/,
    'git add cannot add a file that is hidden from commands: put it into .gitignore, or add the other files by name.',
  ],
  [/File size limit exceeded|File too large|EFBIG|SIGXFSZ/, 'No command here writes a file of more than 1 GB.'],
];

/** The hints for what a command printed, also where it went on after the error and succeeded. */
export function stageHints(output: string): string[] {
  return STAGE_HINTS.flatMap(([pattern, hint]) => (pattern.test(output) ? [hint] : []));
}
