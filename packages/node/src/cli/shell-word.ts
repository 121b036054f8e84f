/** A word of a command line, such as a path; quoted where a shell would take it apart. */
export function shellWord(word: string): string {
  return /^[\w./@%+:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
