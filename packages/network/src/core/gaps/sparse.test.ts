import { describe, expect, it } from 'vitest'
import { networkLimits, type NetworkLimits } from '../../limits.ts'
import { ChainProgress } from '../dedup/chain-progress.ts'
import { batchAt, CoreScript, data, identityOf, idOf, partId, startMs, streamId } from '../core.testkit.ts'
import { newCounters } from '../counter-names.ts'
import { PartGaps } from './part-gaps.ts'

const at = (offsetMs: number) => ({ timestamp: startMs + offsetMs, sequenceNumber: 0 })

/** The ranges of one stream part, and chains of publishers to open some in. */
function gaps(limits: Partial<NetworkLimits> = {}) {
  const lost: string[] = []
  const counters = newCounters()
  const part = new PartGaps(
    { ...networkLimits, ...limits },
    {
      counters,
      waitMs: () => 10,
      lateMs: () => 0,
      onLost: ({ publisherId, messageChainId }, { upTo }) =>
        lost.push(`${Number(publisherId.slice(-2))} ${messageChainId} ${upTo.timestamp - startMs}`),
    },
  )
  const chainOf = (publisher: number, messageChainId = 'c'): ChainProgress => {
    const chain = { streamId, partition: 0, publisherId: idOf(publisher), messageChainId }
    const { chainLookBackMs, maxGapReachMs } = networkLimits
    const progress = new ChainProgress({ chain, joinedMs: startMs, chainLookBackMs, maxGapReachMs }, part)
    progress.mark({ ...at(0), previous: undefined }, startMs)
    return progress
  }
  /** Leaves a gap before a message at each of these times. */
  const open = (progress: ChainProgress, ...times: readonly number[]) => {
    for (const time of times) progress.mark({ ...at(time), previous: at(time - 1) }, startMs + time)
  }
  return { part, counters, lost, chainOf, open }
}

describe('missing ranges', () => {
  it('are so many for a stream part, and the publisher with most of them loses its oldest', () => {
    const { part, counters, lost, chainOf, open } = gaps({ maxMissingRanges: 100 })
    const honest = chainOf(1)
    open(honest, 10, 20, 30)
    const [first, second] = [chainOf(2, 'a'), chainOf(2, 'b')]
    for (let i = 1; i <= 1_000; i++) open(i % 2 === 0 ? first : second, 10 * i)
    expect(part.ranges).toBe(100)
    expect(honest.wanted).toHaveLength(3)
    expect(first.wanted.length + second.wanted.length).toBe(97)
    expect(lost.slice(0, 3)).toEqual(['2 b 9', '2 a 19', '2 b 29'])
    expect([lost.length, counters['dedup.rangesDropped']]).toEqual([903, 903])
    // A newcomer finds room.
    open(chainOf(3), 10)
    expect([part.ranges, lost.length]).toEqual([100, 904])
    expect(lost.every((text) => text.startsWith('2 '))).toBe(true)
  })

  it('that were split count as two, and those that were filled as none', () => {
    const { part, chainOf } = gaps()
    const chain = chainOf(1)
    chain.mark({ ...at(50), previous: at(40) }, startMs)
    chain.mark({ ...at(30), previous: at(20) }, startMs)
    expect(part.ranges).toBe(2)
    chain.mark({ ...at(20), previous: at(0) }, startMs)
    chain.mark({ ...at(40), previous: at(30) }, startMs)
    expect(part.ranges).toBe(0)
  })

  it('that were given up are taken for a while longer, and then forgotten', () => {
    const { part, lost, chainOf, open } = gaps({ maxLateAgeMs: 1_000 })
    const chain = chainOf(1)
    open(chain, 10)
    for (const range of [...chain.wanted]) part.giveUp(range, startMs + 100)
    expect(lost.length).toBe(1)
    expect([part.ranges, part.dueMs - startMs, chain.isNew(at(9))]).toEqual([1, 20, true])
    part.forgetLate(startMs + 1_099)
    expect(chain.isNew(at(9))).toBe(true)
    part.forgetLate(startMs + 1_100)
    expect([part.ranges, chain.isNew(at(9)), lost.length]).toEqual([0, false, 1])
  })

  it('are looked for sooner when later batches come, so many of them as are looked for at once', () => {
    const { part, chainOf, open } = gaps({ maxRangesInWork: 2 })
    const chain = chainOf(1)
    open(chain, 10, 20, 30)
    for (const { fill } of chain.wanted) if (fill) fill.dueMs = startMs + 1_000
    part.chains.clear()
    part.passed(chain)
    expect(chain.wanted.map(({ fill }) => (fill?.dueMs ?? 0) - startMs)).toEqual([30, 40, 1_000])
    expect(part.chains.get(chain)).toBe(startMs + 30)
  })

  it('go with a chain that is forgotten', () => {
    const { part, lost, chainOf, open } = gaps()
    const chain = chainOf(1)
    open(chain, 10, 20)
    part.chainForgotten(chain)
    expect([part.ranges, part.chains.size, lost]).toEqual([0, 0, ['1 c 9', '1 c 19']])
  })
})

describe('a node with very many missing ranges', () => {
  const chains = 20
  const rangesEach = 50

  /** One publisher leaves a gap before each message of many chains. */
  function flooded(limits: Partial<NetworkLimits> = {}): CoreScript {
    const script = new CoreScript({ maxMissingRanges: 500, ...limits }).withNeighbours(2, 3)
    const publisher = identityOf(9)
    script.rttMs = 20
    for (let i = 0; i < rangesEach; i++) {
      for (let chain = 0; chain < chains; chain++) {
        const options = { publisher, chainId: `${chain}`, ...(i === 0 ? {} : { previous: at(10 * i - 1) }) }
        script.run(data(2, batchAt([startMs + 10 * i], options)))
      }
    }
    return script
  }

  it('looks at a bounded number of them in a tick, of all chains in turn', () => {
    const script = flooded({ maxRangesPerTick: 100, maxRangesInWork: 20, maxFetchesInFlight: 100 })
    expect(script.core.streamParts.get(partId)?.gaps.ranges).toBe(500)
    script.nowMs += 20
    const asked = new Set<string>()
    let ticks = 0
    for (; script.core.dueMs <= script.nowMs; ticks++) {
      script.sent.length = 0
      script.run({ type: 'tick' })
      const fetches = script.sent.flatMap((packet) => (packet.type === 'fetch' ? [packet] : []))
      expect(fetches.reduce((sum, { ranges }) => sum + ranges.length, 0)).toBeLessThanOrEqual(120)
      for (const { messageChainId } of fetches) asked.add(messageChainId)
    }
    expect(ticks).toBeLessThanOrEqual(6)
    expect(asked.size).toBe(chains)
  })

  it('still fills the gap of an honest publisher', () => {
    const script = flooded()
    script.run(data(2, batchAt([startMs])))
    script.run(data(2, batchAt([startMs + 20], { previous: at(10) })))
    script.pass(3_000)
    const publisherId = identityOf(7).nodeId
    const fetch = script.sent.find((packet) => packet.type === 'fetch' && packet.publisherId === publisherId)
    expect(fetch).toMatchObject({ ranges: [{ after: at(0), upTo: at(10) }] })
  })

  it('has none of them left after a while', () => {
    const script = flooded({ maxLateAgeMs: 10_000 })
    script.pass(networkLimits.maxFillAgeMs * 20)
    expect(script.core.streamParts.get(partId)?.gaps.ranges).toBe(0)
    expect(script.core.streamParts.get(partId)?.gaps.chains.size).toBe(0)
  })
})
