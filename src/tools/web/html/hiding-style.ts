/** Declarations that make an element invisible. */
const HIDING: readonly (readonly [property: RegExp, value: RegExp])[] = [
  [/^display$/, /^none\b/],
  [/^(content-)?visibility$/, /^(hidden|collapse)\b/],
  [/^opacity$/, /^(0+|0?\.0\d*)%?$/],
  [/^font-size$/, /^(0+(\.0*)?|\.0+)([a-z]+|%)?$|^(0?\.\d+|1(\.\d+)?)(px|pt)$/],
  [/^font$/, /(^|\s)0(px|pt|em|rem|%)?(\/\S+)?\s/],
  [/^(text-indent|left|top|right|bottom)$/, /^-(\d{3,}|[5-9]\d(\.\d+)?(em|rem|vw|vh))/],
  [/^(margin-left|margin-top)$/, /^-\d{4,}/],
  [/^clip$/, /^rect\(\s*[01](px)?[\s,]+[01](px)?[\s,]+[01](px)?[\s,]+[01](px)?\s*\)/],
  [
    /^clip-path$/,
    /^(inset\(\s*(50|100)%|circle\(\s*0|polygon\(\s*0(px|%)?\s+0(px|%)?\s*,\s*0(px|%)?\s+0(px|%)?\s*,\s*0(px|%)?\s+0)/,
  ],
  [/^transform$/, /scale[xy]?\(\s*0\s*[,)]|translate[xy]?\(\s*-\d{4,}/],
  [/^scale$/, /^0+$/],
  [
    /^(-webkit-text-fill-)?color$/,
    /^(transparent|#...0|#......00|(rgb|hsl)a?\([^)]*[,/]\s*((0+(\.0*)?%?|\.0*%?|%)\s*)?\))$/,
  ],
];
const NOTHING = /^[01](px|em|rem|%)?$/;
const SIZES = ['width', 'height', 'max-width', 'max-height'];

/** Whether the declarations of a style hide their element by themselves. */
export function isHidingStyle(style: string): boolean {
  const declared = declarations(style);
  for (const [name, value] of declared) {
    if (HIDING.some(([property, hides]) => property.test(name) && hides.test(value))) return true;
  }
  const overflow = declared.get('overflow') ?? declared.get('overflow-y') ?? '';
  if (/^(hidden|clip)/.test(overflow) && SIZES.some((size) => NOTHING.test(declared.get(size) ?? ''))) return true;
  const [color, ground] = [declared.get('color'), declared.get('background-color') ?? declared.get('background')];
  return color !== undefined && ground !== undefined && plainColor(color) === plainColor(ground);
}

/** Later declarations win, as in a browser. */
function declarations(style: string): Map<string, string> {
  const plain = style.includes('\\')
    ? style.replace(/\\([0-9a-f]{1,6})\s?/gi, (_all, hex: string) => unescaped(hex))
    : style;
  const found = new Map<string, string>();
  for (const each of plain.toLowerCase().split(';')) {
    const colon = each.indexOf(':');
    if (colon === -1) continue;
    const value = each.slice(colon + 1).replace('!important', '');
    found.set(withoutComments(each.slice(0, colon)).trim(), withoutComments(value).trim());
  }
  return found;
}

function unescaped(hex: string): string {
  const code = Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

export function withoutComments(sheet: string): string {
  if (!sheet.includes('/*')) return sheet;
  const parts: string[] = [];
  let at = 0;
  for (let start = sheet.indexOf('/*'); start !== -1; start = sheet.indexOf('/*', at)) {
    parts.push(sheet.slice(at, start));
    const end = sheet.indexOf('*/', start + 2);
    at = end === -1 ? sheet.length : end + 2;
  }
  return parts.join('') + sheet.slice(at);
}

const NAMED: Readonly<Record<string, string>> = { white: '#ffffff', black: '#000000' };

function plainColor(color: string): string {
  const rgb = /^rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*\)$/.exec(color);
  if (rgb !== null)
    return `#${rgb
      .slice(1)
      .map((part) => Number(part).toString(16).padStart(2, '0'))
      .join('')}`;
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/.exec(color);
  if (short !== null)
    return `#${short
      .slice(1)
      .map((digit) => digit + digit)
      .join('')}`;
  return NAMED[color] ?? color;
}
