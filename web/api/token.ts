const STORAGE_KEY = 'toolwright.token';

/** Moves the token from the address into the session storage. It came in the fragment, which no server or referrer sees. */
export function takeToken(): void {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return;
  sessionStorage.setItem(STORAGE_KEY, given);
  history.replaceState(null, '', location.pathname + location.search);
}

export function token(): string {
  return sessionStorage.getItem(STORAGE_KEY) ?? '';
}
