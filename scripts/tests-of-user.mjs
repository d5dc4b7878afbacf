const ATTACKS = ['attacks', 'commands', 'file-tools', 'sandbox'];

/** What depends on who runs it: what the sandbox promises, and the attacks on it and on files. */
export const TESTS_OF_USER = ['src/sandbox', 'src/net', ...ATTACKS.map((name) => `test/attacks/${name}.test.ts`)];
