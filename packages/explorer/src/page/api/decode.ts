/** Checks of what a tracker answers: everything in it is hostile until it has passed one. */

/** Takes a value apart, or throws Malformed. */
export type Decode<T> = (value: unknown) => T

/** An answer that is not what it should be. `where` says at which place. */
export class Malformed extends Error {}

export function text(maxChars: number): Decode<string> {
  return (value) => {
    if (typeof value === 'string' && value.length <= maxChars) return value
    throw new Malformed(`not a text of at most ${maxChars} characters`)
  }
}

export function matching(pattern: RegExp): Decode<string> {
  return (value) => {
    if (typeof value === 'string' && value.length <= 512 && pattern.test(value)) return value
    throw new Malformed(`not like ${pattern.source}`)
  }
}

export function oneOf<const T extends string>(...options: T[]): Decode<T> {
  return (value) => {
    const found = options.find((option) => option === value)
    if (found !== undefined) return found
    throw new Malformed(`not one of ${options.join(', ')}`)
  }
}

export const flag: Decode<boolean> = (value) => {
  if (typeof value === 'boolean') return value
  throw new Malformed('neither true nor false')
}

export function numberFrom(min: number, max: number): Decode<number> {
  return (value) => {
    if (typeof value === 'number' && value >= min && value <= max) return value
    throw new Malformed(`not a number from ${min} to ${max}`)
  }
}

export const count: Decode<number> = (value) => {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value)
  throw new Malformed('not a count')
}

export function nullable<T>(decode: Decode<T>): Decode<T | null> {
  return (value) => (value === null ? null : decode(value))
}

/** For fields that older trackers do not have. */
export function withDefault<T>(decode: Decode<T>, fallback: T): Decode<T> {
  return (value) => (value === undefined ? fallback : decode(value))
}

export function list<T>(decode: Decode<T>, maxItems: number): Decode<T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length > maxItems)
      throw new Malformed(`not a list of at most ${maxItems}`)
    return value.map((item, index) => at(`[${index}]`, () => decode(item)))
  }
}

/** Fields that are not asked for are left out. */
export function object<T>(fields: { readonly [K in keyof T]-?: Decode<T[K]> }): Decode<T> {
  const decoders = Object.entries(fields) as [keyof T & string, Decode<T[keyof T]>][]
  return (value) => {
    if (typeof value !== 'object' || value === null) throw new Malformed('not an object')
    const own = new Map(Object.entries(value))
    return Object.fromEntries(
      decoders.map(([name, decode]) => [name, at(name, () => decode(own.get(name)))]),
    ) as T
  }
}

/** By keys of one kind. */
export function record<T>(
  key: Decode<string>,
  decode: Decode<T>,
  maxItems: number,
): Decode<ReadonlyMap<string, T>> {
  return (value) => {
    if (typeof value !== 'object' || value === null) throw new Malformed('not an object')
    const entries = Object.entries(value)
    if (entries.length > maxItems) throw new Malformed(`more than ${maxItems}`)
    return new Map(entries.map(([name, item]) => [key(name), at(name, () => decode(item))]))
  }
}

function at<T>(where: string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    throw new Malformed(`${where}: ${error.message}`)
  }
}
