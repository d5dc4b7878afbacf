import { readText } from '../../host/files.ts';
import { isWithin } from '../toolchains.ts';

/** Where other file systems are mounted in a folder: an overlay would show what lies below them, or cannot be mounted. */
export function innerMounts(folder: string): string[] {
  const lines = (readText('/proc/self/mountinfo') ?? '').split('\n');
  const points = lines.map((line) => unescaped(line.split(' ')[4] ?? ''));
  return points.filter((point) => point !== folder && point !== '' && isWithin(point, folder));
}

/** The kernel writes blanks and the like as octal numbers. */
function unescaped(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
