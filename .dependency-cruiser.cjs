// Imports point down this table, never up: docs/architecture.md shows it as a picture.
const ROOMS = [
  'policy',
  'approval',
  'workspace',
  'net',
  'sandbox',
  'processes',
  'stages',
  'storage',
  'models',
  'schema',
  'protocol',
  'mcp/client',
];
/** Shared by the rooms above: the machine, bash as a language, git, secrets. */
const SHARED = ['host', 'shell', 'git', 'secrets'];
const LEVELS = [
  ['kernel', []],
  ['host', ['kernel']],
  ['shell', ['kernel']],
  ['git', ['kernel', 'host', 'shell']],
  ['secrets', ['kernel', 'host', 'git']],
  ...ROOMS.map((folder) => [folder, ['kernel', ...SHARED]]),
  ['tools', ['kernel']],
  ['runtime', ['kernel', 'secrets', 'schema']],
  ['agent', ['kernel', 'secrets', 'models', 'runtime']],
  ['http', ['kernel', 'protocol', 'schema', 'runtime', 'agent']],
  ['mcp/server', ['kernel', 'protocol', 'schema', 'runtime', 'agent']],
  ['app', ['kernel', ...SHARED, ...ROOMS, 'tools', 'runtime', 'agent', 'http', 'mcp/server']],
  ['cli', ['app', 'kernel', 'protocol']],
  ['testing', ['kernel', ...SHARED, ...ROOMS, 'tools', 'runtime', 'agent', 'http', 'mcp/server']],
];

const TESTS = '\\.test\\.ts$';

function downOnly([folder, may]) {
  const allowed = may.map((name) => `src/${name}`).join(', ') || 'nothing of ours';
  return {
    name: `${folder} imports down`,
    severity: 'error',
    comment: `src/${folder} may import ${allowed}. Take the rest as an argument, or move the shared type to src/kernel.`,
    from: { path: `^src/${folder}/`, pathNot: TESTS },
    to: { path: '^src/', pathNot: [`^src/${folder}/`, ...may.map((name) => `^src/${name}/`)] },
  };
}

module.exports = {
  forbidden: [
    ...LEVELS.map(downOnly),
    {
      name: 'the page knows the protocol only',
      severity: 'error',
      comment:
        'web/ takes src/protocol and the pure parts of the kernel that it needs; everything else it asks the server.',
      from: { path: '^web/' },
      to: { path: '^src/', pathNot: ['^src/(protocol|kernel/text)/', '^src/kernel/coalesce\\.ts$'] },
    },
    {
      name: 'no unknown folder',
      severity: 'error',
      comment: 'A folder of src/ has a row in the table of .dependency-cruiser.cjs, or it has no rules.',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: LEVELS.map(([folder]) => `^src/${folder}/`) },
    },
    {
      name: 'kernel knows zod and diff only',
      severity: 'error',
      comment: 'The kernel has no IO and two pure dependencies, so that everything can stand on it.',
      from: { path: '^src/kernel/', pathNot: TESTS },
      to: { pathNot: ['^src/kernel/', 'node_modules/(zod|diff)/'] },
    },
    {
      name: 'tools reach the world through ctx',
      severity: 'error',
      comment: 'So that policy, sandbox and record are in the way. Pure libraries are fine.',
      from: { path: '^src/tools/', pathNot: TESTS },
      to: { path: '^(node:)?(fs|child_process|net|http|https|http2|dgram|dns|tls|worker_threads|vm)($|/)' },
    },
    {
      name: 'no cycle',
      severity: 'error',
      comment: 'Two files that need each other are one file, or share a third.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'product code knows no tests',
      severity: 'error',
      comment: 'What the product needs is not in a test.',
      from: { path: '^src/', pathNot: TESTS },
      to: { path: [TESTS, '^test/', '^bench/', '^examples/', '^scripts/'] },
    },
    {
      name: 'testing is for tests',
      severity: 'error',
      comment: 'src/testing is exported for tests; the product does not stand on it.',
      from: { path: '^src/', pathNot: [TESTS, '^src/testing/'] },
      to: { path: '^src/testing/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types'],
    },
  },
};
