/** JSON of anything a caller gave: what JSON cannot hold becomes words, so that no argument makes a record impossible. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    const path: unknown[] = [];
    return (
      JSON.stringify(value, function (this: unknown, _key, inner: unknown) {
        if (typeof inner === 'bigint') return String(inner);
        while (path.length > 0 && path.at(-1) !== this) path.pop();
        if (typeof inner === 'object' && inner !== null) {
          if (path.includes(inner)) return '[circular]';
          path.push(inner);
        }
        return inner;
      }) ?? 'null'
    );
  }
}
