/** What of the search providers is configured. A key comes with where to send it only in tests and behind a gateway. */
export interface SearchSettings {
  readonly brave?: Keyed;
  readonly tavily?: Keyed;
  readonly exa?: Keyed;
  /** The address of an instance that answers in JSON. It may be on the user's own network: they wrote it down. */
  readonly searxng?: { readonly url: string };
}

export interface Keyed {
  readonly key: string;
  readonly endpoint?: string;
}
