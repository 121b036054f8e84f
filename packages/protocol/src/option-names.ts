/** What a value must be; `true`: whoever uses it looks at it. */
export type OptionKind = true | 'boolean' | 'function' | 'signal' | 'whole'
/** Every option of a type, so that a list of them cannot lack one. */
export type OptionNames<T> = Readonly<Record<keyof T, OptionKind>>

/** What is wrong with the options of a function: mostly one that is misspelt, and would have no effect. Undefined when nothing is wrong. */
export function mistakeInOptions(
  of: string,
  options: unknown,
  names: Readonly<Record<string, OptionKind>>,
): string | undefined {
  if (typeof options !== 'object' || options === null) return `${of} takes an object of options`
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(names, name) ? names[name] : undefined
    if (kind === undefined)
      return `${of} has no option "${name.slice(0, 40)}"; it has ${Object.keys(names).join(', ')}`
    if (kind === true || value === undefined) continue
    const { what, is } = kinds[kind]
    if (!is(value)) return `${name} of ${of} must be ${what}`
  }
  return undefined
}

const kinds = {
  boolean: { what: 'true or false', is: (value: unknown) => typeof value === 'boolean' },
  function: { what: 'a function', is: (value: unknown) => typeof value === 'function' },
  signal: { what: 'an AbortSignal', is: isSignal },
  whole: {
    what: 'a whole number from 0',
    is: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0,
  },
}

/** Also of another realm, such as a frame of the page, or of a polyfill. */
function isSignal(value: unknown): boolean {
  const { aborted, addEventListener } = Object(value) as Partial<AbortSignal>
  return typeof aborted === 'boolean' && typeof addEventListener === 'function'
}
