const PLACE = 'toolwright.token';

/** The address carries the token once, in the fragment, which no server and no referrer sees; then it is taken out. */
export function takeToken(): void {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return;
  sessionStorage.setItem(PLACE, given);
  history.replaceState(null, '', location.pathname + location.search);
}

export function token(): string {
  return sessionStorage.getItem(PLACE) ?? '';
}
