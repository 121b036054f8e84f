import { describe, expect, it } from 'vitest'
import { mean } from '../measures/statistics.ts'
import { createLatencyModel, meanOneWayFromMs, type LatencyModel } from './latency-model.ts'
import { parseLatencyTable } from './latency-table.ts'

/** Over all ordered pairs of different nodes. */
function meanOneWayMs(model: LatencyModel): number {
  return mean(Array.from({ length: model.nodes }, (_, from) => meanOneWayFromMs(model, from))) ?? 0
}

describe('createLatencyModel', () => {
  it('spreads nodes evenly over the regions of the published table', () => {
    const model = createLatencyModel({ latency: 'aws', nodes: 2048, seed: '1' })
    expect(model.oneWayMs(0, 16)).toBe(0.08)
    expect(model.oneWayMs(1, 32)).toBe(11.49)
    // The thesis: 68.64 ms.
    expect(meanOneWayMs(model)).toBeCloseTo(68.67, 1)
  })

  it('adds a last mile of 0 to 10 ms to each end, the same for the same seed', () => {
    const [aws, near, again, other] = ['aws 1', 'aws-lastmile 1', 'aws-lastmile 1', 'aws-lastmile 2'].map(
      (name) => {
        const [latency = '', seed = ''] = name.split(' ')
        return meanOneWayMs(createLatencyModel({ latency, nodes: 512, seed }))
      },
    )
    expect(near).toBe(again)
    expect(near).not.toBe(other)
    expect((near ?? 0) - (aws ?? 0)).toBeGreaterThan(9)
    expect((near ?? 0) - (aws ?? 0)).toBeLessThan(11)
  })

  it('makes an internet of transit and stub domains', () => {
    const model = createLatencyModel({ latency: 'transit-stub', nodes: 600, seed: '1' })
    const fromFirst = Array.from({ length: 599 }, (_, i) => model.oneWayMs(0, i + 1))
    expect(Math.min(...fromFirst)).toBeLessThan(10)
    expect(Math.max(...fromFirst)).toBeGreaterThan(120)
    expect(Math.max(...fromFirst)).toBeLessThan(2000)
    expect(model.oneWayMs(3, 77)).toBe(model.oneWayMs(77, 3))
  })

  it('says when there is no such file', () => {
    expect(() => createLatencyModel({ latency: 'no/such/file', nodes: 2, seed: '1' })).toThrow(
      expect.objectContaining({ code: 'UNREADABLE_LATENCIES' }),
    )
  })
})

describe('parseLatencyTable', () => {
  it('reads regions and delays, and leaves out the rest', () => {
    const text = '{"source": "x", "regions": ["a", "b"], "oneWayMs": [[0, 1], [2.5, 0]]}'
    expect(parseLatencyTable(text)).toEqual({
      regions: ['a', 'b'],
      oneWayMs: [
        [0, 1],
        [2.5, 0],
      ],
    })
  })

  it.each([
    'no JSON',
    'null',
    '[]',
    '{}',
    '{"regions": [], "oneWayMs": []}',
    '{"regions": ["a", "a"], "oneWayMs": [[0, 1], [1, 0]]}',
    '{"regions": ["a", 7], "oneWayMs": [[0, 1], [1, 0]]}',
    '{"regions": ["a", "b"], "oneWayMs": [[0, 1]]}',
    '{"regions": ["a", "b"], "oneWayMs": [[0, 1], [1]]}',
    '{"regions": ["a", "b"], "oneWayMs": [[0, 1], [-1, 0]]}',
    '{"regions": ["a", "b"], "oneWayMs": [[0, 1], [1e9, 0]]}',
    '{"regions": ["a", "b"], "oneWayMs": [[0, null], [1, 0]]}',
    '{"regions": ["a", "b"], "oneWayMs": [[0, "1"], [1, 0]]}',
  ])('refuses %s', (text) => {
    expect(() => parseLatencyTable(text)).toThrow(expect.objectContaining({ code: 'INVALID_LATENCIES' }))
  })
})
