const ATTACKS = ['attacks', 'commands', 'file-tools', 'sandbox'];
const CHANGES = ['src/stages', 'src/workspace/take', 'test/changes'];

/** Tests whose outcome depends on the user: those of the sandbox and of what commands change, and the attacks on them and on files. */
export const TESTS_OF_USER = [
  'src/sandbox',
  'src/net',
  ...CHANGES,
  ...ATTACKS.map((name) => `test/attacks/${name}.test.ts`),
];
