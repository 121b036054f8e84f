import { expect, it } from 'vitest'
import { palettes } from './colours.ts'
import { colourOfTransport, countTransports, nameOfTransport, type EdgeTransport } from './transports.ts'

const by = (transport: string | null, relayed = false): EdgeTransport => ({ transport, relayed })

it('names transports, also those that the page does not know, as text that can be seen', () => {
  const edges = [by('webrtc'), by('webrtc', true), by('circuit'), by(null), by('pigeon'), by('pig\u202eeon')]
  expect(edges.map(nameOfTransport)).toEqual([
    ...['WebRTC', 'WebRTC over TURN', 'Circuit', 'not reported', 'pigeon', 'pig\u{fffd}eon'],
  ])
  expect(nameOfTransport(by('toString'))).toBe('toString')
})

it('tells them apart by colour', () => {
  for (const palette of Object.values(palettes)) {
    const edges = [by('websocket'), by('webrtc'), by('webrtc', true), by('tcp'), by('circuit'), by(null)]
    expect(new Set(edges.map((edge) => colourOfTransport(edge, palette))).size).toBe(edges.length)
  }
})

it('counts them, the most first and the unknown last', () => {
  const edges = [by(null), by(null), by(null), by('tcp'), by('webrtc'), by('webrtc')]
  expect(countTransports(edges).map(({ name, edges: of }) => [name, of.length])).toEqual([
    ['WebRTC', 2],
    ['TCP', 1],
    ['not reported', 3],
  ])
})
