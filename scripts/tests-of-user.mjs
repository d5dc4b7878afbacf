const ATTACKS = ['attacks', 'commands', 'file-tools', 'sandbox'];

/** Tests whose outcome depends on the user: those of the sandbox, and the attacks on it and on files. */
export const TESTS_OF_USER = ['src/sandbox', 'src/net', ...ATTACKS.map((name) => `test/attacks/${name}.test.ts`)];
