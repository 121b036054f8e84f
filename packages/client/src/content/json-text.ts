import { clientError, reasonOf } from '../errors.ts'

/** Objects that JSON.stringify writes as `{}` or as properties by number, whatever they hold: their names by Object.prototype.toString. */
const unspoken = new Set([
  ...['Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'Promise', 'RegExp', 'Error', 'DOMException'],
  ...['ArrayBuffer', 'SharedArrayBuffer', 'Blob', 'File', 'FormData', 'Headers'],
])

/** Where in a value something is that JSON cannot carry. */
interface Fault {
  readonly what: string
  /** As in JavaScript, such as `.readings[2]`; empty for the value itself. */
  readonly path: string
}

/** Characters of a path that an error quotes. */
const maxPathLength = 100

/**
 * A value as JSON, if a reader gets it back: JSON.stringify alone writes NaN and Infinity as null and a Map as `{}`, and leaves functions out.
 * Properties that are undefined are left out, and `toJSON` counts (it is called twice). Throws TypeError with the place and what is there.
 */
export function jsonTextOf(value: unknown): string {
  // First, because it refuses cycles, which the search for faults would follow.
  const text = JSON.stringify(value) as string | undefined
  const fault = text === undefined ? faultAt(kindOf(value)) : faultOf(value, '')
  if (text !== undefined && fault === undefined) return text
  const { what = '', path = '' } = fault ?? {}
  throw new TypeError(
    `JSON cannot express ${what}${path === '' ? '' : ` at ${path.slice(0, maxPathLength)}`}`,
  )
}

/** An argument as JSON. Throws INVALID_ARGUMENT where it is none. */
export function jsonArgument(name: string, value: unknown): string {
  try {
    return jsonTextOf(value)
  } catch (cause) {
    throw clientError('INVALID_ARGUMENT', `${name}: ${reasonOf(cause)}`, { cause })
  }
}

function faultOf(value: unknown, key: string): Fault | undefined {
  if (typeof value === 'object') return value === null ? undefined : faultInObject(value, key)
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : faultAt(`${value}`)
  return typeof value === 'function' || typeof value === 'symbol' ? faultAt(kindOf(value)) : undefined
}

function faultInObject(value: object, key: string): Fault | undefined {
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? faultAt('an invalid Date') : undefined
    return faultOf((value as { toJSON(key: string): unknown }).toJSON(key), key)
  }
  if (Array.isArray(value)) return faultInArray(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    const kind = kindOf(value)
    if (ArrayBuffer.isView(value) || unspoken.has(kind)) return faultAt(kind)
  }
  for (const name of Object.keys(value)) {
    const fault = faultOf((value as Record<string, unknown>)[name], name)
    if (fault !== undefined) return within(fault, `.${name}`)
  }
  return undefined
}

function faultInArray(values: readonly unknown[]): Fault | undefined {
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    const fault = value === undefined ? faultAt('undefined') : faultOf(value, `${at}`)
    if (fault !== undefined) return within(fault, `[${at}]`)
  }
  return undefined
}

const within = ({ what, path }: Fault, place: string): Fault => ({ what, path: `${place}${path}` })

const faultAt = (what: string): Fault => ({ what, path: '' })

const kindOf = (value: unknown): string =>
  typeof value === 'object' ? Object.prototype.toString.call(value).slice(8, -1) : typeof value
