import { describe, expect, it } from 'vitest'
import type { Edge } from './api/answers.ts'
import { figuresOf, histogram, quantile } from './figures.ts'

const edge = (
  a: string,
  b: string,
  rttMs: number | null,
  transport: Edge['transport'],
  near = false,
): Edge => {
  return { a, b, rttMs, transport, relayed: false, near }
}

describe('figures', () => {
  it('say what an overlay is like', () => {
    const edges = [
      edge('a', 'b', 10, 'websocket', true),
      edge('b', 'c', 30, 'webrtc'),
      edge('a', 'c', null, null),
    ]
    expect(figuresOf(['a', 'b', 'c', 'd'], edges)).toEqual({
      ...{ nodes: 4, edges: 3, minDegree: 0, maxDegree: 2 },
      nearEdges: 1,
      transports: [
        { name: 'WebSocket', edges: 1 },
        { name: 'WebRTC', edges: 1 },
        { name: 'not reported', edges: 1 },
      ],
      rtt: { medianMs: 30, p95Ms: 30, measured: 2 },
    })
    expect(figuresOf([], [])).toMatchObject({ minDegree: 0, maxDegree: 0, rtt: null })
  })

  it('find quantiles', () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(3)
    expect(quantile([], 0.5)).toBeNaN()
  })

  it('count times in ranges', () => {
    const bars = histogram([1, 1, 10, 100, 100], 4)
    expect(bars.map(({ count }) => count)).toEqual([2, 0, 1, 2])
    expect(bars[0]?.fromMs).toBe(1)
    expect(bars[3]?.toMs).toBeCloseTo(100)
    expect(histogram([0, 0], 2).map(({ count }) => count)).toEqual([2, 0])
    expect(histogram([], 4)).toEqual([])
  })
})
