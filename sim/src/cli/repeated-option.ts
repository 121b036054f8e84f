/** An option that is given twice, of which yargs makes a list: the first one, without `_`, which names the experiment, and those that are lists. */
export function repeatedOption(
  argv: Readonly<Record<string, unknown>>,
  ...lists: readonly string[]
): string | undefined {
  return Object.keys(argv).find((name) => Array.isArray(argv[name]) && name !== '_' && !lists.includes(name))
}
