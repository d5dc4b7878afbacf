import { describe, expect, test } from 'vitest';
import { createFilePolicy } from '../../kernel/file-policy.ts';
import { judgeCommand } from './judge-command.ts';

const where = { root: '/home/ana/project', home: '/home/ana', files: createFilePolicy() };
const open = { ...where, masked: false };

describe('what may do more than it seems is asked about', () => {
  test.each([
    ['a word that becomes several', `a=(1 -o pwned); sort -k "\${a[@]}" f`],
    ['all arguments as a value', `bash -c 'find . -name "$@"' _ x.ts -delete`],
    ['all arguments behind a pattern', `bash -c 'grep -h -e "$@"' _ . .env`],
    ['a variable behind home', "X='a -o -name f -delete'; find . -name ~/$X"],
    ['the names of variables', `sort -k "\${!a@}" f`],
    ['what xargs reads behind an option', "echo 'x -delete' | xargs find . -name"],
    ['what xargs reads as more files', 'echo . .env | xargs grep -h -e'],
    ['what xargs reads as a pattern and files', "echo '. .env' | xargs grep -h"],
    ['what xargs reads as an option', "echo x | xargs -I{} rg '{}' f"],
    ['what xargs reads for git', 'cat list | xargs git diff f x --diff-filter'],
    ['an option of xargs whose value is glued on', 'echo a b | xargs --max-lines touch echo'],
    ['an option of xargs that sets a variable', 'echo a | xargs --process-slot-var=PATH ls'],
    ['a pattern as a value', 'grep -h -e .e* x'],
    ['a redirection that ends a command in sh', "sh -c 'ls &>/dev/null touch pwned'"],
    ['the same, cut in two', "sh -c 'ls &\\\n>/dev/null touch pwned'"],
    ['a test that is a command in sh', "sh -c 'ls; [[ x || ./evil.sh ]]'"],
    ['a test that writes in sh', "dash -c 'ls; [[ x > src/x.ts ]]'"],
    ['two subshells in sh', "sh -c '((ls))'"],
    ['eval in sh', `sh -c "eval 'ls &''>x touch y'"`],
    ['trap in sh', `sh -c "trap '[[ x || ./evil.sh ]]' EXIT"`],
    ['a target of make', 'make version'],
    ['a file for node', 'node version'],
    ['a file for python', 'python3 version'],
    ['standard input for python', "echo 'open(1)' | python3 -v"],
    ['a build', 'ninja -v'],
    ['a build after the version', 'gradle -V'],
    ['a new version', 'yarn version'],
    ['a format that assigns', "printf '%n' PATH; ls"],
    ['a format that assigns behind a width', "printf '%%%-5ln' PATH"],
    ['a format that is computed', 'printf "a$X" PATH'],
    ['a folder by a pattern', 'cd .dock*; cat config.json'],
    ['words in a file', 'strings @.pgpass'],
    ['letters behind one that takes the next word', 'tree -Lo 1 pwned.txt'],
    ['a command behind which -S stands', 'env touch pwned -- -S ls'],
    ['a variable named like -S', 'env -u -Sls rm x'],
    ['options in the text of -S', 'env -S "-i rm x"'],
    ['the last of two folders', 'env -C . -C /etc cat hosts.deny'],
    ['text from a list in a script', "cat list | xargs -I{} -I% bash -c 'echo %'"],
    ['the same behind another option', "cat list | xargs -Ei -I% bash -c 'echo %'"],
    ['the same, cut in two', 'cat list | xargs -I{} bash -c "echo {"}'],
    ['the second replacement', "cat list | xargs --replace=% --replace=+ sh -c 'echo +'"],
    ['assignments among arguments', "bash -kc 'ls PATH=.'"],
    ['the same by its name', "bash -o keyword -c 'ls PATH=.'"],
    ['folders by variables', "bash -O cdable_vars -c 'x=/etc; cd x && cat passwd'"],
    ['a script behind more options', "bash -c -e 'rm x'"],
    ['a descriptor that was opened for reading', 'echo pwned <src/x.ts >/dev/stdin'],
    ['another descriptor', 'echo pwned 3<src/x.ts >/dev/fd/3'],
    ['its own output, opened for reading', 'echo x 1<src/x.ts >/dev/stdout'],
    ['its own output, moved', 'echo x <f 1>&0 >/dev/stdout'],
    ['the output of a shell', "bash -c 'echo x >/dev/stdout' 1<f"],
    ['a setting of git behind its value', "git config core.fsmonitor 'touch pwned; false' --get"],
    ['a call behind ||', `awk 'BEGIN{x||system("touch pwned")}'`],
    ['the folder before', 'OLDPWD=/etc; cd -; cat shadow'],
    ['a default that decides', `: \${CDPATH:=/etc}; cd ssl; cat openssl.cnf`],
    ['the home', 'cd; ls -la'],
    ['a format of git without a value', 'git log --format --output=victim'],
    ['a range that rev-list does not know', 'git rev-list -L --output=x HEAD'],
    ['a number that shortlog does not take', 'git shortlog -n --output=pwned HEAD'],
    ['a file named like a subcommand', 'git stash -- list'],
    ['an option behind an archive', "unzip a.zip '*' -l"],
    ['a second file that looks like an option', 'xxd a -p'],
    ['an action that a pattern matches', 'find -- sub [-]delete'],
    ['a descriptor of two digits in sh', "sh -c 'uniq a 10<b'"],
    ['a call behind a number', `awk 'BEGIN{x=1system("touch pwned")}'`],
    ['a file behind a number', `awk 'BEGIN{x=1getline<".env";print}'`],
    ['a value of several words', "X='5 touch pwned'; nice -n $X ls"],
    ['a time of several words', 'X=1; timeout -- $X ls'],
    ['a name of several words', 'env -u $X ls'],
    ['a name by a pattern', 'env -u d/* ls'],
    ['a size of several words', 'stdbuf -o $X ls'],
    ['an end by a pattern', 'xargs -E d/* echo hi'],
    ['text by a pattern', 'eval ls *.txt'],
    ['a script by a pattern', 'bash -c echo\\ *'],
    ['a trap by a pattern', 'trap echo\\ * EXIT'],
    ['split text by a pattern', 'env -S ls\\ *'],
    ['a delimiter in brackets', "sed 's,[,],p;s,w pwned,x,' f1"],
    ['a delimiter behind a bracket', "sed 's,[],],p;s,w pwned,x,' f1"],
    ['a file to read by a pattern', 'cat < .en*'],
    ['a number by a pattern', 'uniq -f 1* f1'],
    ['a length by a pattern', 'xxd -l 1* f1'],
    ['a format by a pattern', 'git branch --format n*'],
    ['a separator by a pattern', "awk -F B* '{print $1}' f1"],
    ['options of tar without a dash', 'tar tIf ./evil a.tar -t'],
    ['a new archive', 'tar cf -t f1'],
    ['words that git sorts', "git stash show -S 'stash@{0}' -S --output=pwned"],
    ['a name of git by a pattern', 'cd .git && git symbolic-ref refs/heads/*'],
    ['a subcommand of git by a pattern', "git reflog d* 'HEAD@{1}'"],
    ['the variables of others', 'ps -eo environ'],
    ['a program for sed by a pattern', 'sed s,x*,y,p f1'],
    ['a program for awk by a pattern', 'awk x*1 f1'],
    ['a format that checks signatures', "git log --format='% GG'"],
    ['a format that is computed for git', 'git for-each-ref --format "$X"'],
    ['the priority of another process', 'ionice -c 3 -p 1 ls'],
    ['variables by their names', `gawk 'BEGIN{SYMTAB["\\101RGC"]=2} 1'`],
  ])('%s: %s', (_what, command) => {
    expect(judgeCommand(command, where)).toMatchObject({ verdict: 'ask', readOnly: false });
  });

  test.each([
    ['git outside the index', 'git grep --no-index -h .'],
    ['git beside the index', 'git grep --untracked key'],
    ['git on two folders', 'git diff --no-index . empty'],
    ['git on two folders outside a repository', 'git diff . empty'],
    ['two folders', 'diff -N . empty'],
    ['files in the place of a value', 'grep -e * x'],
    ['a program that the project chooses', 'yarn --version'],
    ["another program's temporary file", 'cat /tmp/other/.env'],
  ])('without a sandbox, %s: %s', (_what, command) => {
    expect(judgeCommand(command, open).verdict).toBe('ask');
  });

  test('without a sandbox, nothing is written to a folder that all programs share', () => {
    expect(judgeCommand('echo x > /tmp/y', open).verdict).toBe('deny');
    expect(judgeCommand('echo x > /tmp/y', where).verdict).not.toBe('deny');
  });
});

test('what a loop or a trap runs behind a cd is judged there as well', () => {
  for (const script of [
    'for i in 1 2; do cat config.json; cd .docker; done',
    "trap 'cat config.json' EXIT; cd .docker",
    'strings -n @.env f1',
  ])
    expect(judgeCommand(script, where).verdict).toBe('deny');
});

test.each([
  "sed -n '/[[:space:]]foo[a-z]*/p' f; sed 's/[^a-z]/-/g' f",
  'timeout 5 nice -n 5 ls; tar -tzf a.tgz; ps aux; cat < a.txt',
  'cd src && for f in *; do echo "$f"; done',
  'git ls-files | xargs -n1 basename',
  'env -iS "ls -la" src',
  "bash -euo pipefail -c 'ls'",
  'echo x > /dev/stderr; ls 2>/dev/null 1>&2',
  'git config --get user.name; git shortlog -sn; git stash show -p; git log --format=%h -n 5',
  'cd src && ls && cd -',
  'unzip -l a.zip; xxd -l 16 a; uniq -c a',
  "awk 'a||b' f",
  'ls | xargs -L1 echo',
  "sh -c 'ls | wc -l'",
  "sh -c 'test -f a && cat a'",
  "bash -c '[[ -f a ]] && ls &>/dev/null'",
  "sed -n '$!{ /x/!p; d }; s/a/b/g' f",
  "tree -aL 2 -I 'node_modules|dist'",
  "printf '%-10s %5d%%\\n' a 3",
  'sort -k "$X" f',
  'grep -rn foo --include=*.ts src',
  'node -v; npm version; go version; python3 -V; java -version; make --help',
])('still runs unasked: %s', (command) => {
  expect(judgeCommand(command, where)).toMatchObject({ verdict: 'allow', readOnly: true });
});
