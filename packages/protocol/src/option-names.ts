/** Every option of a type, so that a list of them cannot lack one. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>

/** What is wrong with the options of a function: mostly one that is misspelt, and would have no effect. Undefined when nothing is wrong. */
export function mistakeInOptions(
  of: string,
  options: unknown,
  names: Readonly<Record<string, true>>,
): string | undefined {
  if (typeof options !== 'object' || options === null) return `${of} takes an object of options`
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name))
  if (unknown === undefined) return undefined
  return `${of} has no option "${unknown.slice(0, 40)}"; it has ${Object.keys(names).join(', ')}`
}
