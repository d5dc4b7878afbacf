/** Configured search providers. A key has its own endpoint only in tests and behind a gateway. */
export interface SearchSettings {
  readonly brave?: ProviderKey;
  readonly tavily?: ProviderKey;
  readonly exa?: ProviderKey;
  /** Address of an instance that answers in JSON. It may be on the user's own network, since the user configured it. */
  readonly searxng?: { readonly url: string };
}

export interface ProviderKey {
  readonly key: string;
  readonly endpoint?: string;
}
