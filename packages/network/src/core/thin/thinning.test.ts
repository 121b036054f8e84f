import { describe, expect, it } from 'vitest'
import {
  keyPartition,
  placeBefore,
  placeOf,
  signMembership,
  toStreamPartId,
  type FloodMode,
  type MessageBatch,
  type MessageRef,
} from '@runnel/protocol'
import {
  attach,
  batchAt,
  closed,
  control,
  crypto,
  data,
  detach,
  idOf,
  identityOf,
  instruct,
  join,
  opened,
  partId,
  publish,
  startMs,
  streamId,
} from '../core.testkit.ts'
import { networkLimits, type NetworkLimits } from '../../limits.ts'
import { aliasOf, chain, isAsk, script, sends } from './thinning.testkit.ts'

describe('a node to which copies come late', () => {
  it('asks one neighbour to be a standby, and the other for digests', () => {
    expect(script().thin()).toEqual(['thin 3 standby', 'thin 4 digest'])
  })

  it('asks nobody any more when batches come long after they were announced', () => {
    const { core, next, thin, digest } = script()
    thin()
    for (let i = 0; i < 8; i++) {
      const batch = next()
      core.run(digest(3, batch), digest(4, batch))
      core.pass(2 * networkLimits.maxThinLateMs)
      core.run(data(2, batch))
    }
    core.pass(networkLimits.thinLeaseMs)
    const asks: string[] = []
    for (let i = 0; i < 30; i++) {
      const batch = next()
      asks.push(...core.run(data(2, batch), data(3, batch), data(4, batch)).filter(isAsk))
    }
    expect(asks).toEqual([])
  })

  it('asks nobody who does not know how', () => {
    const { core, thin } = script()
    core.canThin = false
    expect(thin()).toEqual([])
  })

  it('fetches what was announced and comes from nobody, and asks whoever brings it for copies', () => {
    const { core, next, thin, digest } = script()
    thin()
    const asks = [1, 2].map(() => {
      const batch = next()
      expect(sends(core.run(digest(4, batch)))).toEqual([])
      const lines = core.pass(1_000)
      expect(sends(lines)[0]).toMatch(/^fetch 4 /)
      return core.run(data(4, batch)).filter(isAsk)
    })
    expect(asks).toEqual([[], ['thin 4 eager', 'thin 2 digest']])
    expect(core.core.counters['thin.pulled']).toBe(2)
  })

  it('fetches what was announced while the batch before it was being fetched', () => {
    const { core, next, thin, digest } = script()
    thin()
    const first = next()
    const { timestamp, sequenceNumber } = first.messages[0] as MessageRef
    const second = batchAt([timestamp + 50], { previous: { timestamp, sequenceNumber } })
    core.run(digest(3, first))
    core.pass(50)
    core.run(digest(3, second))
    while (core.core.counters['thin.pulled'] < 2) core.pass(1)
    const asked = core.sent.findLast(({ type }) => type === 'fetch')
    if (asked?.type !== 'fetch') throw new Error('nothing was fetched')
    const answer = { type: 'fetched', requestId: asked.requestId, complete: true } as const
    const place = (batch: MessageBatch) => (batch.messages[0]?.timestamp ?? 0) - startMs
    const lines = core.run(data(3, first), control(3, answer))
    expect(sends([...lines, ...core.pass(1)])).toContain(`fetch 3 (${place(first)},${place(second)}]`)
  })

  it('asks nobody any more when its application wants no gaps filled', () => {
    const { core, next, thin } = script({ thinLeaseMs: 2_000 })
    thin()
    core.run({ type: 'join', streamPartId: partId, fillGaps: false, reads: true })
    const asks = Array.from({ length: 40 }, () => core.run(data(2, next())).filter(isAsk))
    expect(asks.flat()).toEqual([])
  })

  it('does not fetch what the eager way brings a moment later', () => {
    const { core, next, thin, digest } = script()
    thin()
    for (let i = 0; i < 20; i++) {
      const batch = next()
      core.run(digest(3, batch), digest(4, batch))
      core.pass(30)
      core.run(data(2, batch))
    }
    expect(core.core.counters['thin.pulled']).toBe(0)
    expect(core.core.counters['fetch.sent']).toBe(0)
  })

  it('sends no copy to a neighbour that announced the batch, but tells its standby that it came', () => {
    const { core, next, thin, digest } = script()
    thin()
    const batch = next()
    core.run(digest(3, batch), digest(4, batch))
    expect(sends(core.run(data(2, batch)))).toEqual([])
    expect(sends(core.pass(30))).toEqual([`digest 3 [${(batch.messages[0]?.timestamp ?? 0) - startMs}]`])
  })

  it('tells a standby that was silent, and has another one in its place, as long as it may still send', () => {
    const { core, next, thin, digest } = script()
    thin()
    const asks: string[] = []
    for (let i = 0; i < 20; i++) {
      const batch = next()
      asks.push(...core.run(digest(4, batch), data(2, batch)).filter(isAsk))
    }
    expect(asks).toContain('thin 4 standby')
    core.pass(100)
    const batch = next()
    core.run(digest(3, batch), digest(4, batch), data(2, batch))
    const told = core.pass(60).filter((line) => line.startsWith('digest'))
    expect(told.map((line) => line.slice(0, 'digest 3'.length)).sort()).toEqual(['digest 3', 'digest 4'])
  })

  it.each([
    ['its link closes', closed(2)],
    ['it leaves', detach(2, 'left')],
  ])('asks the standby for copies at once when %s', (_, event) => {
    const { core, next, thin, digest } = script()
    thin()
    const batch = next()
    core.run(digest(3, batch), data(2, batch))
    expect(core.run(event).filter(isAsk)).toContain('thin 3 eager')
  })

  it('asks another standby when it announced and did not send', () => {
    const { core, next, thin, digest } = script()
    thin()
    const before = next()
    core.run(digest(3, before), digest(4, before), data(2, before))
    const batch = next()
    core.run(digest(3, batch), digest(4, batch))
    expect(core.pass(1_000).filter(isAsk)).toEqual(['thin 3 digest', 'thin 4 standby'])
  })

  it('fetches nothing of a time that has not come, nor of a chain that it did not ask for', () => {
    const { core, next, thin, digest } = script()
    thin()
    const ahead = batchAt([startMs + 100_000_000])
    core.run(digest(4, ahead), digest(4, next(), { alias: 77 }), digest(9, next()))
    expect(sends(core.pass(2_000)).filter((line) => line.startsWith('fetch'))).toEqual([])
    expect(core.core.counters['digest.ignored']).toBe(2)
  })

  it('remembers so many announced batches, and pursues a liar no longer than any other', () => {
    const { core, next, thin, digest } = script()
    thin()
    next()
    for (let i = 1; i <= 500; i++) core.run(digest(4, batchAt([core.wallMs + i])))
    expect(core.core.counters['thin.dropped']).toBe(500 - networkLimits.maxAnnounced)
    core.pass(60_000)
    expect(core.core.counters['fetch.sent']).toBeLessThanOrEqual(networkLimits.maxFillRounds)
  })

  it('gives a feeder no alias, and knows the one of a neighbour that becomes a feeder', () => {
    const { core, next } = script()
    core.canShorten = true
    const feeds = (peer: number) => {
      const claim = { nodeId: idOf(peer), expiresMs: startMs + 60_000 }
      const membership = { reads: false, token: signMembership(claim, crypto, identityOf(7)) }
      return control(peer, { type: 'attach', streamPartId: partId, sinceMs: 0, heads: [], membership })
    }
    core.run(opened(9), feeds(9))
    const asks = Array.from({ length: 12 }, () => core.run(data(9, next())).filter(isAsk))
    expect(asks.flat()).toEqual([])
    while (!core.run(data(2, next())).includes('thin 2 eager'));
    core.run(feeds(2))
    expect(core.attached()).toBe('3 4')
    const batch = next()
    expect(core.core.headerOf(idOf(2), aliasOf(core))).toEqual(batch.bytes.slice(0, batch.headerEnd))
    expect(core.core.headerOf(idOf(5), aliasOf(core))).toBeUndefined()
  })

  it('gives the one that brings copies an alias for their header, and again before it ends', () => {
    const { core, next, thin } = script()
    core.canShorten = true
    expect(thin()[0]).toBe('thin 2 eager')
    const alias = aliasOf(core)
    const header = (peer: number) => core.core.headerOf(idOf(peer), alias)
    const batch = next()
    expect(header(2)).toEqual(batch.bytes.slice(0, batch.headerEnd))
    expect([header(9), core.core.headerOf(idOf(2), alias + 1)]).toEqual([undefined, undefined])
    const asks: string[] = []
    for (let i = 0; i < 100; i++)
      asks.push(...core.run(data(2, next())).filter((line) => line === 'thin 2 eager'))
    expect(asks).toHaveLength(2)
    core.pass(3 * networkLimits.thinLeaseMs)
    expect(header(2)).toBeUndefined()
    core.run({ type: 'unknownAlias', peerId: idOf(2) })
    expect(core.core.counters['data.unknownAlias']).toBe(1)
  })

  it('fetches what the eager way has lost as soon as another way could have brought it', () => {
    const fetchedAfterRtts = (from: number): number => {
      const { core, next, thin, digest } = script()
      thin()
      for (let i = 0; i < 20; i++) {
        const batch = next()
        core.run(digest(3, batch), digest(4, batch))
        core.pass(i % 2 === 0 ? 0 : 90)
        core.run(data(2, batch))
      }
      next()
      core.run(data(from, next()))
      const sinceMs = core.nowMs
      while (core.core.counters['fetch.sent'] === 0) core.pass(1)
      return (core.nowMs - sinceMs) / Number(core.rttMs)
    }
    expect(fetchedAfterRtts(2)).toBe(2)
    expect(fetchedAfterRtts(4)).toBeGreaterThan(2)
  })

  it('fetches, a few times a second, what was signed for a place of another batch, and shows both', () => {
    const { core, next, thin, digest } = script()
    thin()
    const batch = next()
    const previous = batch.messages[0]?.previous
    core.run(data(2, batch))
    const twin = batchAt([batch.messages[0]?.timestamp ?? 0], { previous, content: [9] })
    expect(sends(core.run(digest(4, batch)))).toEqual([])
    expect(sends(core.run(digest(4, twin)))[0]).toMatch(/^fetch 4 /)
    core.run(data(4, twin))
    expect(core.equivocations).toHaveLength(1)
    for (let i = 0; i < 50; i++) core.run(digest(3, batch, { check: i }))
    expect(core.core.counters['thin.doubts']).toBeLessThanOrEqual(1 + networkLimits.maxDoubtsPerS)
  })
})

describe('a node that is asked to thin', () => {
  /** The neighbour 3 has asked, once the chain is known. */
  function asked(mode: FloodMode, limits: Partial<NetworkLimits> = {}) {
    const run = script(limits)
    run.core.run(data(2, run.next()), run.ask(3, mode))
    return run
  }

  it('tells of a batch in place of sending it', () => {
    const { core, next } = asked('digest')
    expect(sends(core.run(data(2, next())))).toEqual(['data 4'])
    expect(sends(core.pass(5_000))).toContain('digest 3 [200]')
    expect(core.core.counters['thin.pushed']).toBe(0)
  })

  it('as a standby sends it when the neighbour does not say in time that it has it', () => {
    const { core, next } = asked('standby')
    core.run(data(2, next()))
    expect(sends(core.pass(1_000))).toEqual(expect.arrayContaining(['digest 3 [200]', 'data 3']))
  })

  it.each(['a digest', 'a copy'])('does not when %s of the neighbour says so', (how) => {
    const { core, next, digest } = asked('standby')
    const batch = next()
    core.run(
      data(2, batch),
      how === 'a copy' ? data(3, batch) : digest(3, batch, { alias: 3, isSenders: true }),
    )
    expect(sends(core.pass(5_000))).not.toContain('data 3')
  })

  it('waits for as long as the neighbour is usually late', () => {
    const { core, next, digest } = asked('standby')
    const pushedMs = (lateMs: number): number => {
      for (let i = 0; i < 40; i++) {
        const batch = next()
        core.run(data(2, batch))
        core.pass(lateMs)
        core.run(digest(3, batch, { alias: 3, isSenders: true }))
      }
      const before = core.core.counters['thin.pushed']
      core.run(data(2, next()))
      const sinceMs = core.nowMs
      while (core.core.counters['thin.pushed'] === before) core.pass(1)
      return core.nowMs - sinceMs
    }
    expect(pushedMs(5)).toBeLessThanOrEqual(2 * networkLimits.minPushWaitMs)
    expect(pushedMs(90)).toBeGreaterThan(80)
  })

  it('pushes when the link is free', () => {
    const { core, next } = asked('standby')
    core.queuedBytes = networkLimits.maxPushQueueBytes + 1
    core.run(data(2, next()))
    expect(sends(core.pass(1_000))).not.toContain('data 3')
    core.queuedBytes = 0
    expect(sends(core.pass(100))).toContain('data 3')
  })

  it('sends copies again when it is asked to, with what the neighbour may lack, and when the ask has ended', () => {
    const { core, next, ask } = asked('standby')
    core.run(data(2, next()))
    core.run(ask(3, 'eager'))
    expect(sends(core.pass(1))).toContain('data 3')
    expect(sends(core.run(data(2, next())))).toEqual(['data 3', 'data 4'])
    core.run(ask(3, 'digest', 3, 1_000))
    expect(sends(core.run(data(2, next())))).toEqual(['data 4'])
    core.pass(1_000)
    expect(sends(core.run(data(2, next())))).toEqual(['data 3', 'data 4'])
  })

  it('sends batches of a chain with many, whatever their order, pushes and digests so that they may be lost', () => {
    const { core, next } = asked('standby')
    for (let i = 0; i < 10; i++) core.run(data(2, next()))
    core.lossy.length = 0
    const [earlier, later] = [next(), next()]
    core.run(data(2, later))
    expect(core.lossy).toContain('data 4')
    core.lossy.length = 0
    expect(core.run(data(2, earlier))).toContain('data 4')
    expect(core.lossy).toContain('data 4')
    core.lossy.length = 0
    core.pass(1_000)
    expect(core.core.counters['thin.pushed']).toBeGreaterThan(0)
    expect(new Set(core.lossy)).toEqual(new Set(['data 3', 'digest 3']))
    core.pass(10_000)
    core.lossy.length = 0
    expect(core.run(data(2, next()))).toContain('data 4')
    expect(core.lossy).toEqual([])
  })

  it('sends what comes long after newer ones so that it arrives: neighbours may no longer look for it', () => {
    const { core, next } = asked('digest')
    const early = next()
    for (let i = 0; i < 60; i++) core.run(data(2, next()))
    core.lossy.length = 0
    expect(core.run(data(2, early))).toContain('data 4')
    expect(core.lossy).toEqual([])
  })

  it('sends what is beside a stream so that it arrives, however many batches a chain has: nobody looks for what is lost', () => {
    const { core } = script()
    const streamPartId = toStreamPartId(streamId, keyPartition)
    const instruction = { ...instruct(2, 2, 3).instruction, streamPartId }
    core.run({ ...join, streamPartId, fillGaps: false }, { type: 'instruction', instruction })
    for (const peer of [2, 3])
      core.run(control(peer, { type: 'attach', streamPartId, sinceMs: 0, heads: [] }))
    for (let ms = 0; ms < 20; ms++)
      core.run(publish(batchAt([startMs + ms], { partition: keyPartition, chainId: '~r' })))
    expect(sends(core.lines)).toContain('data 3')
    expect(core.lossy).toEqual([])
  })

  it('sends copies by the alias that the neighbour gave, for as long as it holds', () => {
    const { core, next, ask } = script()
    core.canShorten = true
    core.run(data(2, next()), ask(3, 'eager', 77, 1_000))
    core.run(data(2, next()))
    expect(core.aliases).toEqual([[idOf(3).slice(-1), 77]])
    core.pass(1_000)
    core.run(data(2, next()))
    expect(core.aliases).toHaveLength(1)
    core.run(ask(3, 'eager', 78))
    core.canShorten = false
    core.run(data(2, next()))
    expect(core.aliases).toHaveLength(1)
  })

  it.each([
    ['pushes', 'standby'],
    ['answers a fetch', 'digest'],
  ] as const)('%s by the alias, too', (how, mode) => {
    const { core, next } = asked(mode)
    core.canShorten = true
    const batch = next()
    core.run(data(2, batch))
    const last = placeOf(batch.messages.at(-1) as MessageRef)
    const ranges = [{ after: placeBefore(last), upTo: last }]
    const fetch = { type: 'fetch', requestId: 1, streamPartId: partId, ...chain, ranges } as const
    expect(how === 'pushes' ? core.pass(1_000) : core.run(control(3, fetch))).toContain('data 3')
    expect(core.aliases).toContainEqual([idOf(3).slice(-1), 3])
  })

  it('forgets the asks and aliases of a neighbour that attaches again: it may be another process, which knows nothing of them', () => {
    const { core, next } = asked('standby')
    core.canShorten = true
    core.run(data(2, next()))
    core.pass(networkLimits.attachRetryMs)
    core.run(attach(3))
    core.aliases.length = 0
    expect(sends(core.run(data(2, next())))).toEqual(['data 3', 'data 4'])
    expect(core.aliases).toEqual([])
  })

  it('heeds no ask of others, of what is not known, or beyond a number', () => {
    const { core, next, ask } = asked('digest', { maxThinAsks: 1 })
    core.run(ask(9, 'digest'))
    core.run(
      control(4, {
        type: 'thin',
        streamPartId: partId,
        ...chain,
        messageChainId: 'x',
        alias: 1,
        mode: 'digest',
        forMs: 1,
      }),
    )
    expect(core.core.counters['thin.refused']).toBe(2)
    const other = { chainId: 'd' }
    core.run(data(2, next({ ...other, previous: undefined })))
    core.run(
      control(3, {
        type: 'thin',
        streamPartId: partId,
        ...chain,
        messageChainId: 'd',
        alias: 8,
        mode: 'digest',
        forMs: 1,
      }),
    )
    expect(core.core.counters['thin.refused']).toBe(3)
  })

  it('forgets the oldest of what the neighbour may lack when it is too much', () => {
    const { core, next } = asked('standby', { maxUnsureBatches: 2 })
    for (let i = 0; i < 3; i++) core.run(data(2, next()))
    expect(core.core.counters['thin.dropped']).toBe(1)
  })

  it('sends what it publishes itself to the others', () => {
    const { core, ask } = script()
    const own = (offsetMs: number, previous?: MessageRef) => batchAt([startMs + offsetMs], { previous })
    core.run(publish(own(1)), ask(3, 'digest'))
    expect(sends(core.run(publish(own(2, { timestamp: startMs + 1, sequenceNumber: 0 }))))).toEqual([
      'data 2',
      'data 4',
    ])
  })
})

describe('the modes of links', () => {
  const modesOf = ({ core }: ReturnType<typeof script>) =>
    [2, 3, 4].map((peer) => core.core.linkModes(core.nowMs).of(partId, idOf(peer)))

  it('are not given before a chain is thinned', () => {
    expect(modesOf(script())).toEqual([undefined, undefined, undefined])
  })

  it('are what each side asked for', () => {
    const world = script()
    world.thin()
    world.core.run(world.ask(4, 'standby'))
    const one = (mode: FloodMode) => ({ eager: 0, standby: 0, digest: 0, [mode]: 1 })
    expect(modesOf(world)).toEqual([
      { received: one('eager'), sent: one('eager') },
      { received: one('standby'), sent: one('eager') },
      { received: one('digest'), sent: one('standby') },
    ])
    world.core.pass(networkLimits.thinLeaseMs + 1)
    expect(modesOf(world)).toEqual(Array(3).fill({ received: one('eager'), sent: one('eager') }))
  })
})
