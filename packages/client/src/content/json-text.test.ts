import { describe, expect, it } from 'vitest'
import { jsonArgument, jsonTextOf } from './json-text.ts'

class Celsius {
  readonly degrees = 21
  readonly unknown = undefined
}

class Secret {
  toJSON() {
    return { hidden: NaN }
  }
}

describe('JSON of what an application gives', () => {
  it.each([
    ['a Date', { at: new Date(0) }],
    ['a property that is undefined', { a: undefined, b: null }],
    ['what says toJSON', { url: new URL('ws://a/'), bytes: Buffer.from([1]) }],
    ['an object of a class', [new Celsius()]],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
    ['an empty object and array', [{}, [], '', 0, -0, false, null]],
  ])('is that of JSON.stringify: %s', (_, value) => {
    expect(jsonTextOf(value)).toBe(JSON.stringify(value))
  })

  const cyclic: unknown[] = []
  cyclic.push({ cyclic })
  it.each([
    ['NaN', { a: [1, NaN] }, 'NaN at .a[1]'],
    ['Infinity', -Infinity, '-Infinity'],
    ['undefined', undefined, 'undefined'],
    ['undefined in an array', [1, undefined], 'undefined at [1]'],
    ['a hole in an array', { a: [, 1] }, 'undefined at .a[0]'],
    ['a Map', { a: new Map([[1, 2]]) }, 'Map at .a'],
    ['a Set', new Set([1]), 'Set'],
    ['an Error', { error: new RangeError('why') }, 'Error at .error'],
    ['a Promise', [Promise.resolve(1)], 'Promise at [0]'],
    ['bytes in an object', { a: Uint8Array.of(1) }, 'Uint8Array at .a'],
    ['numbers in a typed array', new Float32Array(2), 'Float32Array'],
    ['an ArrayBuffer', new ArrayBuffer(2), 'ArrayBuffer'],
    ['a function', { a: () => 1 }, 'function at .a'],
    ['a symbol', [Symbol('a')], 'symbol at [0]'],
    ['a Date that is none', [new Date(NaN)], 'an invalid Date at [0]'],
    ['what toJSON gives', { a: new Secret() }, 'NaN at .a.hidden'],
    ['a BigInt', { a: 1n }, 'BigInt'],
    ['a cycle', cyclic, 'circular'],
  ])('is refused: %s', (_, value, reason) => {
    expect(() => jsonTextOf(value)).toThrow(reason)
    expect(() => jsonArgument('data', value)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(reason) }),
    )
  })
})
