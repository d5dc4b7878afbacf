import { quoteForShell } from '../../kernel/text/escape.ts';
import type { ScriptCommand } from '../../kernel/world/sandbox.ts';

/**
 * Returns the words of a command that runs the text in `file`. Every user of the machine can read the arguments of a process, so
 * the text is none of them: the interpreter reads it whole before it runs the first line, and behaves as if it had got it as
 * `-c` or `-e`.
 */
export function scriptWords({ language, args = [] }: ScriptCommand, file: string): readonly string[] {
  if (language === 'python') return ['python3', '-c', pythonReader(file), ...args];
  if (language === 'javascript') return ['node', '-e', nodeReader(file), '--', ...args];
  return ['/bin/bash', '-c', bashReader(file), 'bash', ...args];
}

/** Bash keeps the text of `-c` in this variable too. Nothing of the reading shows under `xtrace`, and it survives `errexit`. */
function bashReader(file: string): string {
  const read = `IFS= read -rd '' BASH_EXECUTION_STRING <${quoteForShell(file)} || :`;
  return `{ ${read}; } 2>/dev/null; eval "$BASH_EXECUTION_STRING"`;
}

/** A traceback begins in the text, not in the line that runs it. */
function pythonReader(file: string): string {
  return [
    'def _():',
    '  import sys',
    '  def hook(kind, error, frames):',
    '    frames = frames and frames.tb_next',
    '    sys.__excepthook__(kind, error.with_traceback(frames), frames)',
    '  sys.excepthook = hook',
    `  with open(${JSON.stringify(file)}, encoding="utf-8", newline="") as text: return text.read()`,
    "_ = compile(_(), '<string>', 'exec')",
    'exec((_, globals().pop("_"))[0])',
  ].join('\n');
}

/** Node decides between a script and a module by the syntax, and a module finds its imports from the current folder. */
function nodeReader(file: string): string {
  return `{
const { readFileSync } = require('node:fs'), { Script, constants } = require('node:vm'), hooks = require('node:module');
const text = readFileSync(${JSON.stringify(file)}, 'utf8');
const asModule = () => {
  const url = require('node:url').pathToFileURL(process.cwd() + '/[eval1]').href;
  hooks.registerHooks({
    resolve: (name, at, next) => (name === url ? { url, format: 'module', shortCircuit: true } : next(name, at)),
    load: (name, at, next) => (name === url ? { format: 'module', source: text, shortCircuit: true } : next(name, at)),
  });
  import(url);
};
let script;
try {
  script = new Script(text, { filename: '[eval]', importModuleDynamically: constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER });
} catch (error) {
  const isModule = /import statement|import\\.meta|token 'export'|await is only valid/.test(error.message);
  if (!isModule || hooks.registerHooks === undefined) throw error;
}
script === undefined ? asModule() : script.runInThisContext();
}`;
}
