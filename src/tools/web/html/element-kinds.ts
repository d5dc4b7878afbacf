import { isHidingStyle, withoutComments } from './hiding-style.ts';
import type { Attributes } from './parse-html.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Elements without text of the page. */
const SKIPPED = words(
  'script style noscript template svg canvas iframe object embed video audio map datalist select textarea button input ' +
    'dialog frame frameset noframes',
);
export const BLOCKS = words(
  'address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form header hgroup ' +
    'html li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul',
);
const AROUND_NAMES = words('nav menu');
const AROUND_ROLES = words('navigation banner contentinfo search menu menubar dialog alertdialog toolbar');
/** Inside the content they are parts of it. */
const ASIDE_NAMES = words('aside footer header');
const AROUND_WORDS =
  /(^|[\s_-])(nav|navbar|navigation|menu|sidebar|side-bar|breadcrumbs?|footer|cookies?|consent|gdpr|advert\w*|ads?|sponsor\w*|promo\w*|share|sharing|social|related|recommended|newsletter|subscribe|signup|pagination|pager|popup|modal|skip-link|editsection|headerlink|navbox|noprint|toolbar|site-header|masthead)([\s_-]|$)/i;
const NOT_AROUND = /(^|[\s_-])(article|main|content|body|post|entry)([\s_-]|$)/i;

const HIDING_CLASS = /(^|\s)(sr-only|visually-?hidden|screen-reader(-text)?|d-none|hidden|is-hidden|invisible)(\s|$)/i;
/** Hidden on some screen sizes only, so visible to some readers. */
const SHOWN_SOMEWHERE = /(^|\s)((sm|md|lg|xl|2xl):(block|flex|grid|inline\S*|table\S*)|d-(sm|md|lg|xl|xxl)-\S+)(\s|$)/;

export function isSkipped(name: string): boolean {
  return SKIPPED.has(name);
}

/** Whether an element is hidden: a model must not read what a reader cannot see. */
export function isHidden(attributes: Attributes, hiddenBySheet: ReadonlySet<string>): boolean {
  const { hidden, style, class: classes = '', id, 'aria-hidden': aria } = attributes;
  if (hidden !== undefined && hidden !== 'until-found') return true;
  if (aria === 'true' || (style !== undefined && isHidingStyle(style))) return true;
  if (classes !== '' && HIDING_CLASS.test(classes) && !SHOWN_SOMEWHERE.test(classes)) return true;
  if (hiddenBySheet.size === 0) return false;
  if (id !== undefined && hiddenBySheet.has(`#${id}`)) return true;
  return classes.split(/\s+/).some((each) => each !== '' && hiddenBySheet.has(`.${each}`));
}

/**
 * Kind of an element that may surround the content of a page. `perhaps around`: only a class or an id says so. `note`:
 * it
 * is inside <main> or <article>, where it may belong to the text.
 */
export function aroundKind(
  name: string,
  { role = '', class: classes = '', id = '' }: Attributes,
  inContent: boolean,
): 'around' | 'perhaps around' | 'note' | null {
  if (AROUND_NAMES.has(name) || AROUND_ROLES.has(role)) return 'around';
  const isAside = ASIDE_NAMES.has(name) || role === 'complementary';
  if (isAside && !inContent) return 'around';
  if (name === 'body' || name === 'html' || name === 'main' || name === 'article') return null;
  const named = `${classes} ${id}`;
  if (named.length > 1 && AROUND_WORDS.test(named) && !NOT_AROUND.test(named)) return 'perhaps around';
  return isAside && name !== 'header' ? 'note' : null;
}

/**
 * Classes and ids hidden by the page's own style sheet. Only plain selectors outside @-rules; others would be
 * guesswork.
 */
export function hiddenSelectors(sheet: string): string[] {
  const plain = withoutComments(sheet.slice(0, 100_000));
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < plain.length; at++) {
    const character = plain[at];
    if (character === '{' && depth++ === 0) {
      const end = plain.indexOf('}', at);
      const selectors = plain.slice(start, at).trim();
      const body = plain.slice(at + 1, end === -1 ? undefined : end).slice(0, MAX_RULE_CHARS);
      if (!selectors.startsWith('@') && isHidingStyle(body)) {
        found.push(
          ...selectors
            .split(',')
            .map((each) => each.trim())
            .filter((each) => /^[.#][\w-]+$/.test(each)),
        );
      }
    } else if (character === '}') {
      depth = Math.max(0, depth - 1);
      if (depth === 0) start = at + 1;
    }
  }
  return found;
}

const MAX_RULE_CHARS = 2000;
