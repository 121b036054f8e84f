import { describe, expect, it } from 'vitest'
import { addressOf, decodeCandidate, encodeCandidate, pathOf } from './candidate.ts'

const candidate = 'candidate:1 1 UDP 2114977791 192.0.2.2 33367 typ host'

describe('candidates', () => {
  it('travel with the id of their section', () => {
    expect(decodeCandidate(encodeCandidate({ mid: '0', candidate }))).toEqual({ mid: '0', candidate })
    expect(decodeCandidate(`0\na=${candidate}`)).toEqual({ mid: '0', candidate: `a=${candidate}` })
  })

  it.each([
    '',
    '0',
    candidate,
    `\n${candidate}`,
    `0\n${candidate}\r\na=x`,
    `0\n${candidate}\0`,
    `0\n${candidate}${'9'.repeat(512)}`,
  ])('refuses %j', (payload) => {
    expect(decodeCandidate(payload)).toBeUndefined()
  })

  it('name their address', () => {
    expect(addressOf(candidate)).toBe('192.0.2.2')
    expect(addressOf('candidate:1')).toBe('')
  })
})

describe('pathOf', () => {
  it.each([
    ['nothing', () => null, undefined],
    ['a pair', () => pair('host', 'relay'), { local: 'host', remote: 'relay' }],
    ['a pair of something else', () => pair('host', 'tunnel'), undefined],
    ['a pair of unnamed ends', () => pair('host', null), undefined],
    [
      'an exception',
      () => {
        throw new Error('closed')
      },
      undefined,
    ],
  ])('of %s', (_, selected, path) => {
    expect(pathOf(selected)).toEqual(path)
  })
})

function pair(local: string | null, remote: string | null) {
  return { local: { type: local }, remote: { type: remote } }
}
