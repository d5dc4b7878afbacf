/** One check of a contract, for any test runner: `for (const { title, run } of checks) test(title, run)`. */
export interface ContractCheck {
  title: string;
  /** Throws when the contract is broken. */
  run(): void | Promise<void>;
}

/** Opens a fresh adapter for one check, and closes it in any case. */
export function checksOf<T>(
  open: () => Promise<{ subject: T; close(): void | Promise<void> }>,
  checks: Record<string, (subject: T) => void | Promise<void>>,
): ContractCheck[] {
  return Object.entries(checks).map(([title, check]) => ({
    title,
    async run() {
      const { subject, close } = await open();
      try {
        await check(subject);
      } finally {
        await close();
      }
    },
  }));
}
