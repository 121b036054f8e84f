import type { ChainHead } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import {
  attach,
  batchAt,
  control,
  CoreScript,
  data,
  idOf,
  join,
  opened,
  partId,
  startMs,
} from '../core.testkit.ts'
import type { OverlayEvent } from '../events.ts'

const heads = (peer: number, ...told: readonly ChainHead[]): OverlayEvent =>
  control(peer, { type: 'heads', streamPartId: partId, heads: told })
const headOf = (publisher: number): ChainHead => ({
  ...{ publisherId: idOf(publisher), messageChainId: 'c' },
  ...{ timestamp: startMs + 5, sequenceNumber: 0 },
})

/** A light node with two hosts. */
function guestOfTwo(): CoreScript {
  const script = new CoreScript({}, { isLight: true })
  script.run(
    join,
    opened(3),
    opened(2),
    { type: 'useHosts', hosts: [idOf(3), idOf(2)] },
    attach(3),
    attach(2),
  )
  return script
}

/** What the node asks peers for, in a time in which host 3 says of everything that it has sent all. */
function asked(script: CoreScript, ms: number, requests: { next: number }): readonly string[] {
  const fetches: string[] = []
  for (const untilMs = script.nowMs + ms; script.nowMs < untilMs;) {
    const lines = script.pass(100).filter((line) => line.startsWith('fetch'))
    for (const line of lines) {
      fetches.push(line)
      script.run(control(3, { type: 'fetched', requestId: requests.next++, complete: true }))
    }
  }
  return fetches
}

describe('a light node whose host tells of messages that do not exist', () => {
  it('asks that host once for each, blames nobody, and is quiet then', () => {
    const script = guestOfTwo()
    const requests = { next: 1 }
    script.run(heads(3, headOf(20), headOf(21)))
    const first = asked(script, 5_000, requests)
    expect(first.map((line) => line.slice(0, 'fetch 3'.length))).toEqual(['fetch 3', 'fetch 3'])
    expect(asked(script, 60_000, requests)).toEqual([])
    expect(script.core.counters['heads.unmet']).toBe(2)
    expect(script.withheld).toEqual([])
  })

  it('gives up on each after some rounds where it does not answer', () => {
    const script = guestOfTwo()
    script.run(heads(3, headOf(20)))
    const fetches = script.pass(120_000).filter((line) => line.startsWith('fetch'))
    expect(fetches).toHaveLength(networkLimits.maxFillRounds)
    expect(script.withheld).toEqual([])
  })

  it('pursues a bounded number, and takes from the other host what that tells', () => {
    const script = guestOfTwo()
    for (let i = 0; i < 3 * networkLimits.maxHeadClaims; i++) script.run(heads(3, headOf(1_000 + i)))
    expect(script.core.counters['heads.dropped']).toBe(2 * networkLimits.maxHeadClaims)
    const { maxHeadClaims, maxFillRounds } = networkLimits
    const fetches = script.pass(120_000).filter((line) => line.startsWith('fetch 3'))
    expect(fetches.length).toBeLessThanOrEqual(maxHeadClaims * maxFillRounds)
    script.run(heads(2, headOf(30)))
    expect(script.pass(1_000).filter((line) => line.startsWith('fetch 2'))).not.toEqual([])
    expect(script.run(data(2, batchAt([startMs])))).toContainEqual(expect.stringContaining('deliver'))
  })
})
