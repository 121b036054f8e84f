import { expect, it } from 'vitest'
import { transportCode, transportOfCode } from './transport-codes.ts'

it('gives each transport the number that docs/protocol.md says', () => {
  const of = (kind: string, relayed = false) => transportCode({ kind, relayed })
  expect([of('websocket'), of('webrtc'), of('webrtc', true), of('tcp'), of('circuit')]).toEqual([
    1, 2, 3, 4, 5,
  ])
  for (const code of [1, 2, 3, 4, 5])
    expect(transportCode(transportOfCode(code) ?? { kind: '', relayed: false })).toBe(code)
})

it('has no number for others, and leaves those of later versions open', () => {
  expect(transportCode({ kind: 'memory', relayed: false })).toBe(0)
  expect(transportCode({ kind: 'tcp', relayed: true })).toBe(0)
  expect([0, 6, 255].map(transportOfCode)).toEqual([undefined, undefined, undefined])
})
