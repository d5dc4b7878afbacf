const TRACKING =
  /^(utm_\w+|fbclid|gclid|gclsrc|dclid|msclkid|yclid|mc_cid|mc_eid|igshid|_hsenc|_hsmi|mkt_tok|ref_src|vero_id|oly_\w+_id)$/i;

/** Longer URLs are dropped, because a page could repeat one without end. */
const MAX_URL_CHARS = 2000;

/** Returns an absolute http(s) or mail link without tracking parameters; null for anything else. */
export function linkTarget(href: string, base: string): string | null {
  const text = href.trim();
  if (text === '' || text.length > MAX_URL_CHARS || !URL.canParse(text, base)) return null;
  const url = new URL(text, base);
  if (url.protocol === 'mailto:' || url.protocol === 'tel:') return url.href;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  if (url.search !== '') {
    for (const name of [...url.searchParams.keys()]) if (TRACKING.test(name)) url.searchParams.delete(name);
  }
  return url.href.replace(/[()\s]/g, (character) =>
    encodeURIComponent(character).replace('(', '%28').replace(')', '%29'),
  );
}
