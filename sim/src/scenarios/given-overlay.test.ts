import { describe, expect, it } from 'vitest'
import { floodGivenOverlay } from './given-overlay.ts'
import { processingMs } from './formation.ts'

const ring = {
  nodes: 4,
  edges: [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 0],
  ] as const,
}

describe('floodGivenOverlay', () => {
  it('takes the shortest ways through just these edges', async () => {
    // 0–1–2 takes 10 each, 0–3 100, 3–2 10: 3 is reached over 2, and there is no edge from 0 to 2.
    const slow = (a: number, b: number) => Math.abs(a - b) === 3
    const { delaysMs, meanMs } = await floodGivenOverlay({
      ...ring,
      oneWayMs: (from, to) => (slow(from, to) ? 100 : 10),
      publishers: [0],
    })
    const expected = [10 + processingMs, 2 * (10 + processingMs), 3 * (10 + processingMs)]
    expect(delaysMs.map((delayMs) => Number(delayMs.toFixed(6)))).toEqual(
      expected.map((ms) => Number(ms.toFixed(6))),
    )
    expect(meanMs).toBeCloseTo(2 * (10 + processingMs))
  })

  it('refuses an overlay in pieces', async () => {
    const edges = [
      [0, 1],
      [2, 3],
    ] as const
    await expect(floodGivenOverlay({ nodes: 4, edges, oneWayMs: () => 10, publishers: [0] })).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })
})
