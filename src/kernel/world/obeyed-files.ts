import { type FileRule, readOnly } from './sensitive-files.ts';

/**
 * Files by which a program on the host is made to do something, each with the program that does it. A change of one is asked about, also
 * where it is new. Ordinary sources of a project (package.json, Makefile) are not among them: everybody expects those to run.
 */

/** Files from which the program runs programs, or takes their names and options. */
export const RUN_BY: readonly (readonly [program: string, ...patterns: string[]])[] = [
  ['git', '**/.git/hooks', '**/.git/config', '**/.git/config.worktree', '**/.git/info/attributes', '**/.git/commondir'],
  ['git', '**/.git/modules/**/hooks', '**/.git/modules/**/config', '.gitmodules', '.gitconfig', '.husky'],
  ['pre-commit', '.pre-commit-config.yaml'],
  ['Lefthook', 'lefthook.y*ml', 'lefthook.toml', 'lefthook.json', 'lefthook-local.*', '.lefthook', '.lefthook.*'],
  ['Lefthook', '.lefthook-local.*'],
  ['Mercurial', '**/.hg/hgrc'],
  ['npm', '.npmrc'],
  ['pnpm', '.pnpmfile.cjs', '.pnpmfile.mjs'],
  ['Yarn', '.yarnrc', '.yarnrc.yml', '**/.yarn/releases', '**/.yarn/plugins'],
  ['Cargo', '**/.cargo/config', '**/.cargo/config.toml'],
  ['mise', 'mise.toml', '.mise.toml', 'mise.*.toml', '.mise.*.toml', '**/.mise/config.toml', '**/.config/mise'],
  ['mise', '**/.mise/tasks', '.rtx.toml'],
  ['VS Code', '**/.vscode/tasks.json', '**/.vscode/settings.json', '**/.vscode/launch.json', '**/.vscode/mcp.json'],
  ['VS Code', '**/.vscode/c_cpp_properties.json', '**/.vscode/cmake-kits.json', '*.code-workspace'],
  ['a dev container', '.devcontainer', '.devcontainer.json'],
  ['a JetBrains editor', '.idea', '.run/*.run.xml', '**/.fleet/run.json'],
  ['Theia', '**/.theia/tasks.json'],
  ['Sublime Text', '*.sublime-project'],
  ['Zed', '.zed'],
  ['Vim', '.exrc', '.vimrc', '.nvimrc', '.nvim.lua', '.lvimrc'],
  ['Emacs', '.dir-locals.el', '.dir-locals-2.el'],
  ['a debugger', '.gdbinit', '.lldbinit', '.pdbrc'],
  ['a shell', '.profile', '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.inputrc'],
  ['a shell', '.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout'],
  ['tmux', '.tmux.conf'],
  ['Ruby', '.irbrc', '.pryrc'],
  ['R', '.Rprofile'],
  ['GHCi', '.ghci'],
  ['a coding agent', '.mcp.json', '.agents'],
  ['Claude Code', '.claude'],
  ['Codex', '.codex'],
  ['Cursor', '.cursor'],
  ['Gemini CLI', '.gemini'],
  ['GitHub Copilot', '**/.github/hooks', '**/.github/agents'],
  ['opencode', '.opencode', 'opencode.json', 'opencode.jsonc'],
  ['Windsurf', '.windsurf'],
  ['Roo Code', '.roo', '.roomodes'],
  ['Kiro', '.kiro'],
  ['Continue', '.continue', '.continuerc.json'],
  ['Qwen Code', '.qwen'],
  ['Amazon Q', '.amazonq'],
  ['Factory', '.factory'],
  ['aider', '.aider.conf.yml'],
  ['Junie', '.junie'],
  ['Augment', '.augment'],
  ['Trae', '.trae'],
  ['Kilo Code', '.kilocode'],
  ['Crush', '.crush.json'],
];

/** Files whose text the program takes for instructions. */
const READ_BY: typeof RUN_BY = [
  ['a coding agent', 'AGENTS.md', 'AGENTS.override.md'],
  ['Claude Code', 'CLAUDE.md', 'CLAUDE.local.md'],
  ['Gemini CLI', 'GEMINI.md'],
  ['Qwen Code', 'QWEN.md'],
  ['Cursor', '.cursorrules'],
  ['Windsurf', '.windsurfrules'],
  ['Roo Code', '.roorules*'],
  ['Cline', '.clinerules'],
  ['Warp', 'WARP.md'],
  ['Goose', '.goosehints'],
  ['Crush', 'CRUSH.md'],
  ['GitHub Copilot', '**/.github/copilot-instructions.md', '**/.github/instructions', '**/.github/prompts'],
];

/** Files that make programs on the host do something. */
export const PROTECTED_FILES: readonly FileRule[] = [
  ...RUN_BY.flatMap(([program, ...patterns]) =>
    readOnly(`${program} on the host can run programs from it`, ...patterns),
  ),
  ...READ_BY.flatMap(([program, ...patterns]) =>
    readOnly(`${program} on the host takes it for instructions`, ...patterns),
  ),
];
