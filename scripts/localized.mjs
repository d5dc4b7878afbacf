/** In the language of the person, chosen as the command line does: the first of these variables that says anything. */
export function localized(english, chinese) {
  const { LC_ALL, LC_MESSAGES, LANG } = process.env;
  return (LC_ALL || LC_MESSAGES || LANG || '').startsWith('zh') ? chinese : english;
}
