/** One promise of a port, checked against an adapter. `run` throws when it is broken; any test runner will do. */
export interface Check {
  readonly title: string;
  run(): Promise<void>;
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
