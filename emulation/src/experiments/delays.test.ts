import { parseLatencyTable } from '@runnel/sim/latency'
import { describe, expect, it } from 'vitest'
import { latencyFileOf } from './delays.ts'

const row = (from: string, to: string, oneWayMs: number | null) => ({ from, to, oneWayMs })

describe('latencyFileOf', () => {
  it('is a table that the simulator reads', () => {
    const rows = [row('a', 'a', 0.4), row('a', 'b', 10), row('b', 'a', 12)]
    const table = parseLatencyTable(JSON.stringify(latencyFileOf(rows, 'pings')))
    expect(table).toEqual({
      regions: ['a', 'b'],
      oneWayMs: [
        [0.4, 10],
        [12, 0.1],
      ],
    })
  })

  it('is none when a pair never answered', () => {
    expect(latencyFileOf([row('a', 'b', null), row('b', 'a', 12)], 'pings')).toBeUndefined()
    expect(latencyFileOf([row('a', 'b', 10)], 'pings')).toBeUndefined()
  })
})
