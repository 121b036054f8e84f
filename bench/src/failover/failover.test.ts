import { expect, it } from 'vitest'
import { endAndJoin, failoverBench } from './failover-bench.ts'
import type { TrackerProcess } from './tracker-process.ts'

/** The part of the edges that has to stay. There are 96, and an overlay may exchange two pairs for nearer ones meanwhile. */
const leastKept = 0.95

it(
  'loses nothing, keeps the overlays and lets others join when trackers are killed, restarted, and all dead',
  { timeout: 240_000 },
  async () => {
    const report = await failoverBench({
      trackers: 3,
      processes: 2,
      nodesPerProcess: 5,
      streams: 6,
      membersPerStream: 8,
      ratePerS: 30,
      joins: 4,
      kills: 1,
      freezes: 0,
      restarts: 1,
      allDeadMs: 2_000,
    })
    const { published, expected } = report.messages
    expect(report.messages).toEqual({
      published,
      expected,
      refused: 0,
      delivered: expected,
      lost: 0,
      outOfOrder: 0,
    })
    expect(expected).toBe(published * 7)
    for (const { joins, keptByNext, keptByFirst, takenOverMs } of report.kills) {
      expect(takenOverMs).toEqual(expect.any(Number))
      expect(joins).toMatchObject({ count: 4, failed: 0 })
      for (const kept of [keptByNext, keptByFirst])
        expect(kept, JSON.stringify(report)).toBeGreaterThanOrEqual(leastKept)
    }
    for (const { returnedMs, kept } of report.rolling) {
      expect(returnedMs).not.toBeNull()
      expect(kept).toBeGreaterThanOrEqual(leastKept)
    }
    expect(report.allDead).toMatchObject({ keptWithout: 1, returnedMs: expect.any(Number) })
    expect(report.allDead?.kept).toBeGreaterThanOrEqual(leastKept)
  },
)

it('times the takeover from the end of the tracker, while others join', async () => {
  const order: string[] = []
  const isSettled = Promise.withResolvers<number>()
  const tracker = { kill: () => Promise.resolve(void order.push('killed')) } as Partial<TrackerProcess>
  const network = {
    orderOf: (stream: string) => (stream === 'c' ? [tracker as TrackerProcess] : []),
    settled: (_: unknown, streams?: readonly string[]) => {
      order.push(`waits for ${streams?.join()}`)
      return isSettled.promise
    },
    join: () => {
      order.push('joined')
      isSettled.resolve(70)
      return Promise.resolve({ neighbourMs: 1, messageMs: 2 })
    },
  }
  const outage = { joined: ['a'], watched: ['b', 'c'], joins: 1, how: 'kill' } as const
  const { takenOverMs } = await endAndJoin(network, tracker as TrackerProcess, outage)
  expect(takenOverMs).toBe(70)
  expect(order).toEqual(['killed', 'waits for b,c', 'joined'])
})

it('times no takeover where the tracker leads only streams that others join', async () => {
  const tracker = { kill: () => Promise.resolve() } as Partial<TrackerProcess> as TrackerProcess
  const network = {
    orderOf: (stream: string) => (stream === 'a' ? [tracker] : []),
    settled: () => Promise.resolve(0),
    join: () => Promise.resolve({ neighbourMs: 1, messageMs: 2 }),
  }
  const outage = { joined: ['a'], watched: ['b'], joins: 1, how: 'kill' } as const
  expect(await endAndJoin(network, tracker, outage)).toMatchObject({ times: [{}], takenOverMs: undefined })
})
