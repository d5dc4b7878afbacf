/** One promise; give it to the test runner you use: `for (const { title, run } of checks) test(title, run)`. */
export interface Check {
  title: string;
  /** Throws when the promise is broken. */
  run(): void | Promise<void>;
}

/** Opens a fresh adapter for one check, and closes it afterwards, however the check went. */
export function checksOf<T>(
  open: () => Promise<{ subject: T; close(): void | Promise<void> }>,
  checks: Record<string, (subject: T) => void | Promise<void>>,
): Check[] {
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
