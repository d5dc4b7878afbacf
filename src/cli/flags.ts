/** `--set name=value` as the configuration takes flags. */
export function settingsFrom(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(given.map((each) => [each.split('=')[0] ?? '', each.slice(each.indexOf('=') + 1)]));
}
