import type { SearchSettings } from '../../net/search/settings.ts';
import { shown } from './hide.ts';
import type { Texts } from './texts.ts';

/**
 * The search providers' keys, under the names that their own documentation uses. They are read from the environment
 * alone: a file with a key in it is soon in somebody's repository. An empty variable counts as none.
 */
export function checkSearch(env: Texts): { settings: SearchSettings; problems: string[] } {
  const { BRAVE_API_KEY: brave, TAVILY_API_KEY: tavily, EXA_API_KEY: exa, SEARXNG_URL: searxng } = env;
  const isUrl = searxng !== undefined && /^https?:\/\//.test(searxng) && URL.canParse(searxng);
  const problems =
    !searxng || isUrl
      ? []
      : [
          `SEARXNG_URL cannot be ${shown(searxng)}: it is the address of an instance, such as https://search.example.org.`,
        ];
  return {
    problems,
    settings: {
      ...(brave && { brave: { key: brave } }),
      ...(tavily && { tavily: { key: tavily } }),
      ...(exa && { exa: { key: exa } }),
      ...(isUrl && { searxng: { url: searxng } }),
    },
  };
}
