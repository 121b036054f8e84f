import { toNodeId, toStreamId, toStreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import type { ProcessInfo } from '../control/control-client.ts'
import { edgesOf, isInPlace, numberedOverlay } from './formed-overlay.ts'

const [a, b, c] = ['a', 'b', 'c'].map((digit) => toNodeId(`0x${digit.repeat(40)}`)) as [never, never, never]
const streamPartId = toStreamPartId(toStreamId(`${a as string}/x`), 0)
const edge = (one: never, other: never) => ({ a: one, b: other, rttMs: null })
const overlay = { streamPartId, nodes: [a, b, c], edges: [edge(a, b), edge(b, c)] }

function info(neighbours: readonly never[], some: Partial<ProcessInfo> = {}): ProcessInfo {
  const part = {
    streamPartId,
    delivered: 0,
    neighbours: neighbours.map((nodeId) => ({ nodeId, transport: 'webrtc' })),
  }
  const rest = { role: 'node', nodeId: b, pid: 1, websocketUrl: '', isPublishing: false } as const
  return { ...rest, links: 2, knownClocks: 2, streamParts: [part], ...some }
}

describe('an overlay', () => {
  it('is numbered in the order of the nodes', () => {
    expect(numberedOverlay(overlay, [c, b, a])).toEqual({
      edges: [
        { a: 2, b: 1 },
        { a: 1, b: 0 },
      ],
      degrees: [1, 2, 1],
    })
    expect(numberedOverlay(overlay, [a, b])).toMatchObject({ degrees: [1, 2] })
  })

  it('has so many edges', () => {
    expect([edgesOf(3, 4), edgesOf(4, 4), edgesOf(5, 4), edgesOf(7, 3), edgesOf(64, 4)]).toEqual([
      3, 6, 10, 10, 128,
    ])
  })

  it('is there for a node when its neighbours are exactly those, and their clocks known', () => {
    expect(isInPlace(info([a, c]), overlay)).toBe(true)
    expect(isInPlace(info([a]), overlay)).toBe(false)
    expect(isInPlace(info([a, c, toNodeId(`0x${'d'.repeat(40)}`) as never]), overlay)).toBe(false)
    expect(isInPlace(info([a, c], { knownClocks: 1 }), overlay)).toBe(false)
    expect(isInPlace(info([a, c], { streamParts: [] }), overlay)).toBe(false)
    expect(isInPlace(undefined, overlay)).toBe(false)
  })
})
