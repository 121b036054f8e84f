import { toNodeId, toStreamId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { isStreamPattern, matches, overlap, parseStreamPattern } from './stream-pattern.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)
const other = `0x${'B'.repeat(40)}`
const id = (text: string) => toStreamId(text.startsWith('/') ? own + text : text)

describe('parseStreamPattern', () => {
  it.each([
    ['/lobby', ['/lobby'], ['/lobby/1', `${other}/lobby`]],
    [`${other}/lobby`, [`${other}/lobby`], ['/lobby']],
    ['/rooms/*', ['/rooms/1', '/rooms/1/2'], ['/rooms', '/roomservice/1', `${other}/rooms/1`]],
    ['/rooms/#', ['/rooms', '/rooms/1', '/rooms/1/2'], ['/roomservice', '/x/rooms', `${other}/rooms`]],
    [`${other}/*`, [`${other}/a`, `${other}/a/b`], ['/a']],
    [`${other}/#`, [`${other}/a`, `${other}/a/b`], ['/a']],
    ['/*', ['/a', '/a/b'], [`${other}/a`]],
    ['/#', ['/a', '/a/b'], [`${other}/a`]],
  ])('%s', (text, meant, others) => {
    const pattern = parseStreamPattern(text, own)
    expect(meant.filter((stream) => matches(pattern, id(stream)))).toEqual(meant)
    expect(others.filter((stream) => matches(pattern, id(stream)))).toEqual([])
  })

  it.each([
    ...['*', '#', 'lobby', '/a*', '/a#', '/*/a', '/#/a', '/a/**', '/a/##', '0x12/*', '/a//*', '/a//#'],
    ...[`${'/a'.repeat(500)}/*`, ''],
  ])('is not: %s', (text) => expect(isStreamPattern(text)).toBe(false))
})

describe('two patterns', () => {
  it.each([
    ['/a/#', '/a/b', true],
    ['/a/#', '/a', true],
    ['/a/*', '/a', false],
    ['/a/*', '/a/#', true],
    ['/a/b/#', '/a/#', true],
    ['/#', '/a/b/*', true],
    ['/a/#', '/ab/#', false],
    ['/a', '/a', true],
    ['/a', '/b', false],
    ['/a/#', `${other}/a/#`, false],
  ])('%s and %s', (one, two, isSo) => {
    const [first, second] = [parseStreamPattern(one, own), parseStreamPattern(two, own)]
    expect([overlap(first, second), overlap(second, first)]).toEqual([isSo, isSo])
  })
})
