import { createRandom, type Random } from '../differential/generate-commands.ts';

/** The tree that every generated script starts from; a name that ends in "/" is a folder, one with " -> " a symlink. */
export const START_TREE: Readonly<Record<string, string>> = {
  'a.txt': 'one\ntwo\nthree\n',
  'b.bin': '\u0000\u0001binary\u0000',
  'run.sh': '#!/bin/sh\necho hi\n',
  'src/index.ts': 'export const a = 1;\n',
  'src/lib/deep/x.ts': 'x\n',
  'src/lib/y.ts': 'y\n',
  'docs/read me.md': '# docs\n',
  'docs/ü.md': 'umlaut\n',
  '.hidden': 'hidden\n',
  '.config/tool/settings': 'on\n',
  'tree/of/many/levels': 'level\n',
  'tree/of/run.sh': '#!/bin/sh\n',
  'tree/more/-> arrow': 'no link\n',
  'tree/link -> of/many': '',
  'empty/': '',
  'link -> a.txt': '',
  'src/up -> ../docs': '',
  'broken -> nowhere': '',
};

/** Shell scripts from a seed that create, change, move, link and delete in `START_TREE`. A step that fails is part of it. */
export function generateScripts(count: number, seed: number): string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const lines = Array.from({ length: random([1, 2, 3, 5, 8, 13]) }, () => step(random));
    return lines.join('\n');
  });
}

const FOLDERS = [
  '.',
  'src',
  'src/lib',
  'src/lib/deep',
  'docs',
  'empty',
  '.config',
  '.config/tool',
  'new',
  'new/er',
  'src/up',
];
/** No target lies in one of these: the copy of a folder into itself depends on the order in which the disk lists names. */
const COPIED = ['tree', 'tree/of', 'tree/more'];
const NAMES = [
  ...[
    'a.txt',
    'b.bin',
    'run.sh',
    'index.ts',
    'x.ts',
    'y.ts',
    'lib',
    'deep',
    'link',
    'broken',
    '.hidden',
    'src',
    'docs',
  ],
  ...[
    'n1',
    'n2',
    'n3',
    '.dot',
    '..two-dots',
    '-dash',
    'with space',
    "it's",
    'ü.md',
    'new\nline',
    'tab\there',
    'back\\slash',
  ],
  ...[
    'a:b,c=d',
    '*',
    '$HOME',
    '日本語',
    'e\u0301',
    'right\u202eleft',
    'trailing ',
    'x'.repeat(255),
    '~tilde',
    '#',
    '%00',
    'CON',
  ],
];
const MODES = ['600', '644', '755', '700', '640', '664', '400', '444', 'u+x', 'go-r', '000'];
const FOLDER_MODES = ['755', '700', '750', '555', '500', 'g+w'];
const TEXTS = ['', 'text', 'one\\ntwo\\n', '\\000\\001\\377', 'ü\\r\\n'];

function step(random: Random): string {
  const [one, other] = [quoted(path(random)), quoted(path(random))];
  const folder = quoted(random(FOLDERS));
  const text = random(TEXTS);
  return random([
    ...[`printf '${text}' >${one}`, `printf '${text}' >>${one}`, `printf '${text}' >>${quoted(known(random))}`],
    ...[`: >${quoted(known(random))}`, `truncate -s ${random([0, 1, 4096, 70000])} ${one}`],
    ...[`mkdir -p ${one}`, `mkdir -p ${folder}`, `mkdir ${one} && printf x >${one}/in`],
    ...[`mv ${one} ${other}`, `mv -T ${quoted(known(random))} ${one}`, `mv -f ${one} ${folder}`, `mv ${folder} ${one}`],
    ...[`cp -a ${quoted(random(COPIED))} ${one}`, `cp ${quoted(known(random))} ${one}`],
    ...[`ln -s ${other} ${one}`, `ln -sfn ${quoted(random(NAMES))} ${one}`, `ln -sf /etc/hostname ${one}`],
    ...[`chmod ${random(MODES)} ${quoted(known(random))}`, `chmod ${random(FOLDER_MODES)} ${folder}`],
    ...[
      `rm -f ${one}`,
      `rm -rf ${one}`,
      `rm -rf ${quoted(known(random))}`,
      `rmdir ${folder}`,
      `rm -rf ${quoted(inner(random))}`,
    ],
    `rm -rf ${one}; mkdir ${one}; printf '${text}' >${one}/now`,
    `rm -rf ${quoted(inner(random))}; printf file >${quoted(inner(random))}`,
    `d=${quoted(inner(random))}; rm -rf "$d"; mkdir "$d"; printf again >"$d/again"`,
    `f=${quoted(known(random))}; rm -f "$f"; mkdir -p "$f"; printf in >"$f/in"`,
    `sed -i s/o/0/ ${quoted(known(random))}`,
    `touch ${quoted(known(random))}`,
    `tar cf - ${quoted(random(COPIED))} | (mkdir -p new/tar && tar xf - -C new/tar)`,
  ]);
}

function path(random: Random): string {
  const [folder, name] = [random(FOLDERS), random(NAMES)];
  return folder === '.' ? `./${name}` : `${folder}/${name}`;
}

/** A file of the tree that the script starts from. */
function known(random: Random): string {
  return random(Object.keys(START_TREE).flatMap((name) => (/\/$/.test(name) ? [] : [name.replace(/ -> .*/, '')])));
}

function inner(random: Random): string {
  return random(FOLDERS.slice(1));
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
