import type { ControlPacket } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import {
  attach,
  batchAt,
  closed,
  control,
  CoreScript,
  data,
  identityOf,
  idOf,
  instruct,
  join,
  opened,
  packetOf,
  partId,
  publish,
  startMs,
  streamId,
} from '../core.testkit.ts'
import type { NetworkLimits } from '../../limits.ts'

const at = (offsetMs: number) => ({ timestamp: startMs + offsetMs, sequenceNumber: 0 })
const message = (offsetMs: number, previous?: number) =>
  batchAt([startMs + offsetMs], previous === undefined ? {} : { previous: at(previous) })
const chain = { streamId, partition: 0, publisherId: identityOf(7).nodeId, messageChainId: 'c' }

/** Lets 10 ms pass for two nodes that are each other's only neighbour, 2, and brings what they say. */
function pass10Ms(one: CoreScript, other: CoreScript): void {
  for (const node of [one, other]) node.pass(10)
  while (one.sent.length + other.sent.length > 0) {
    other.run(...one.sent.splice(0).map((packet) => control(2, packet)))
    one.run(...other.sent.splice(0).map((packet) => control(2, packet)))
  }
}

/** Without the lines about heads, which go out all the while. */
const gapLines = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('heads'))

/** Neighbours 2 and 3, round-trip times of 20 ms, and the first message at 0. */
function script(limits: Partial<NetworkLimits> = {}, options: { hasArchive?: boolean } = {}): CoreScript {
  const core = new CoreScript(limits, options)
  core.rttMs = 20
  core.withNeighbours(2, 3)
  core.run(data(2, message(0)))
  return core
}

function lastFetch(core: CoreScript): ControlPacket & { type: 'fetch' } {
  const packet = core.sent.findLast(({ type }) => type === 'fetch')
  if (packet?.type !== 'fetch') throw new Error('nothing was fetched')
  return packet
}

const fetched = (peer: number, core: CoreScript, complete = true) =>
  control(peer, { type: 'fetched', requestId: lastFetch(core).requestId, complete })

describe('a gap', () => {
  it('is left to another path for one round-trip time', () => {
    const core = script()
    core.run(data(2, message(20, 10)))
    expect(core.core.isMissing(partId, chain, at(10))).toBe(true)
    expect(gapLines(core.pass(19))).toEqual([])
    core.run(data(3, message(10, 0)))
    expect(core.core.isMissing(partId, chain, at(10))).toBe(false)
    expect(gapLines(core.pass(1_000))).toEqual([])
    expect(core.core.counters).toMatchObject({ 'gap.opened': 1, 'gap.filledByPath': 1, 'fetch.sent': 0 })
  })

  it('is fetched from a neighbour, and what comes is delivered and goes on', () => {
    const core = script()
    core.run(data(2, message(40, 30)))
    expect(gapLines(core.pass(20))).toEqual(['fetch 2 (0,30]'])
    expect(gapLines(core.run(data(2, message(30, 0)), fetched(2, core)))).toEqual(['data 3', 'deliver 30'])
    expect(core.core.counters['gap.filledByNeighbour']).toBe(1)
    expect(gapLines(core.pass(1_000))).toEqual([])
  })

  it('is fetched from the next neighbour at once when one does not have it, or after a while when one is silent', () => {
    const core = script()
    core.run(data(2, message(40, 30)))
    core.pass(20)
    expect(gapLines(core.run(fetched(2, core)))).toEqual(['fetch 3 (0,30]'])
    // 1.5 times 20 ms and 30 ms; then the pause after a round.
    expect(gapLines(core.pass(60))).toEqual([])
    expect(core.core.counters['fetch.timeouts']).toBe(1)
    expect(gapLines(core.pass(20))).toEqual(['fetch 2 (0,30]'])
  })

  it('is asked for only in the parts that are still missing', () => {
    const core = script()
    core.run(data(2, message(50, 40)), data(3, message(20, 10)))
    expect(gapLines(core.pass(20))).toEqual(['fetch 2 (0,10] (20,40]'])
  })

  it('is asked for on when an answer was too large for one, in turn and without a pause, and not of the archive', () => {
    const core = script({}, { hasArchive: true })
    core.run(data(2, message(200, 190)))
    const lines = gapLines(core.pass(20))
    for (let i = 1; i <= 10; i++) {
      core.run(data(2, message(i * 10, i * 10 - 10)))
      lines.push(...gapLines(core.run(fetched(2, core, false))), ...gapLines(core.run(fetched(3, core))))
    }
    const asked = lines.flatMap((line) => (line.startsWith('fetch') ? [line.split(' ')[1]] : []))
    expect(asked.join('')).toBe('2' + '32'.repeat(10))
    expect(core.archiveGaps).toEqual([])
  })

  it('is asked for on of the nearest neighbour, as long as that sends much at a time', () => {
    const core = script()
    core.run(data(2, message(1_000, 990)))
    expect(gapLines(core.pass(20))).toEqual(['fetch 2 (0,990]'])
    for (let i = 1; i <= 20; i++) core.run(data(2, message(i * 10, i * 10 - 10)))
    expect(gapLines(core.run(fetched(2, core, false)))).toEqual(['fetch 2 (200,990]'])
  })

  it('waits as for the nearest neighbour when all have too much to answer', () => {
    const core = script({ maxFetchesInFlight: 1 })
    core.rttOf = (peerId) => (peerId === idOf(3) ? 5_000 : 20)
    for (const chainId of ['a', 'b', 'd']) {
      core.run(data(2, batchAt([startMs], { chainId })))
      core.run(data(2, batchAt([startMs + 40], { chainId, previous: at(30) })))
    }
    const fetches = () => core.sent.flatMap((sent) => (sent.type === 'fetch' ? [sent] : []))
    while (fetches().length < 2) core.pass(1)
    const [first] = fetches()
    core.run(data(2, batchAt([startMs + 30], { chainId: 'a', previous: at(0) })))
    core.run(control(2, { type: 'fetched', requestId: first?.requestId ?? 0, complete: true }))
    core.pass(60)
    expect(fetches().map(({ messageChainId }) => messageChainId)).toEqual(['a', 'b', 'd'])
  })

  it('is not left to a neighbour that sends a little at a time', () => {
    const core = script()
    core.run(data(2, message(40, 30)))
    core.pass(20)
    core.run(data(2, message(10, 0)))
    expect(gapLines(core.run(fetched(2, core, false)))).toEqual(['fetch 3 (10,30]'])
  })

  it('is asked for of the next neighbour when one has too much to answer', () => {
    const core = script({ maxFetchesInFlight: 1 })
    const ahead = { publisherId: chain.publisherId, messageChainId: 'other', ...at(50) }
    core.run(control(2, { type: 'heads', streamPartId: partId, heads: [ahead] }))
    expect(gapLines(core.pass(20))).toEqual(['fetch 2 (-1001,50]'])
    core.run(data(2, message(40, 30)))
    expect(gapLines(core.pass(20))).toEqual(['fetch 3 (0,30]'])
  })

  it('waits a little when all neighbours have too much to answer, and is not asked of the archive for that', () => {
    const core = script({ maxFetchesInFlight: 1, archiveAfterRounds: 1 }, { hasArchive: true })
    for (const chainId of ['a', 'b', 'd']) {
      core.run(data(2, batchAt([startMs], { chainId })))
      core.run(data(2, batchAt([startMs + 40], { chainId, previous: at(30) })))
    }
    const asked = () => core.sent.flatMap((sent) => (sent.type === 'fetch' ? [sent.messageChainId] : []))
    expect(gapLines(core.pass(79))).toEqual(['fetch 2 (0,30]', 'fetch 3 (0,30]'])
    expect(asked()).toEqual(['a', 'b'])
    core.run(data(2, batchAt([startMs + 30], { chainId: 'b', previous: at(0) })), fetched(3, core))
    core.pass(1)
    expect([asked().slice(2), core.archiveGaps]).toEqual([['a', 'd'], []])
  })

  it('is asked for in rounds of all who may have it, the guests that publish it too', () => {
    const core = new CoreScript({}, { servesGuests: true }).withNeighbours(2, 3)
    core.rttMs = 20
    const guest = chain.publisherId
    const asGuest = { type: 'guestAttach', streamPartId: partId, sinceMs: 1, heads: [] } as const
    core.run({ type: 'linkOpened', peerId: guest }, { type: 'control', peerId: guest, packet: asGuest })
    core.run(data(2, message(0)), data(2, message(40, 30)))
    core.pass(20)
    core.run(fetched(2, core))
    expect(gapLines(core.run(fetched(3, core)))[0]).toMatch(/^fetch .* \(0,30\]$/)
    const { requestId } = lastFetch(core)
    const denied = { type: 'fetched', requestId, complete: true } as const
    expect(gapLines(core.run({ type: 'control', peerId: guest, packet: denied }))).toEqual([])
    expect(gapLines(core.pass(20))).toEqual(['fetch 2 (0,30]'])
  })

  it('is not left to a neighbour that always says there is more and sends nothing', () => {
    const core = script({ archiveAfterRounds: 1 }, { hasArchive: true })
    core.run(data(2, message(40, 30)))
    core.pass(20)
    expect(gapLines(core.run(fetched(2, core, false)))).toEqual(['fetch 3 (0,30]'])
    core.run(fetched(3, core, false))
    expect(gapLines(core.pass(20))).toEqual(['fetch 2 (0,30]', 'archive (0,30]'])
  })

  it('is given up after some rounds, told exactly, and a late message is still taken', () => {
    const core = script({ maxFillRounds: 2, minFillAgeMs: 60 })
    core.run(data(2, message(40, 30)), data(2, message(20, 10)))
    core.pass(20)
    core.run(fetched(2, core))
    core.run(fetched(3, core))
    core.pass(20)
    core.run(fetched(2, core))
    expect(gapLines(core.run(fetched(3, core)))).toEqual([])
    expect(gapLines(core.pass(40))).toEqual(['lost (0,10]', 'lost (20,30]'])
    expect(core.core.isMissing(partId, chain, at(10))).toBe(false)
    expect(core.core.counters['gap.lost']).toBe(2)
    expect(gapLines(core.run(data(3, message(10, 0))))).toEqual(['data 2', 'deliver 10'])
    expect(gapLines(core.pass(60_000))).toEqual([])
  })

  it('is not given up at once by neighbours that deny it: they may be looking for it themselves', () => {
    const core = script({ maxFillRounds: 1, minFillAgeMs: 1_000 })
    core.run(data(2, message(40, 30)))
    core.pass(20)
    core.run(fetched(2, core))
    core.run(fetched(3, core))
    const lines = gapLines(core.pass(979))
    expect(lines).toContain('fetch 2 (0,30]')
    expect(lines).not.toContain('lost (0,30]')
    expect(gapLines(core.pass(2_000))).toContain('lost (0,30]')
  })

  it('is given up soon when it is older than what neighbours keep, as after a process has slept', () => {
    const core = script({
      maxFillRounds: 1,
      minFillAgeMs: 15_000,
      minOldFillAgeMs: 1_000,
      maxRecentAgeMs: 30_000,
    })
    core.run(data(2, message(40_000, 30_000)), data(2, message(10, 5)))
    core.pass(20)
    for (const peer of [2, 3, 2, 3]) core.run(fetched(peer, core))
    expect(gapLines(core.pass(5_000)).filter((line) => line.startsWith('lost'))).toEqual(['lost (0,5]'])
  })

  it('is not given up because of neighbours that are silent, but when the time is over', () => {
    const core = script({ maxFillRounds: 2, maxFillAgeMs: 5_000 })
    core.run(data(2, message(40, 30)))
    expect(core.pass(4_999).filter((line) => line.startsWith('lost'))).toEqual([])
    expect(core.pass(1_000).filter((line) => line.startsWith('lost'))).toEqual(['lost (0,30]'])
  })

  it('waits for a neighbour when there is none, but not for ever', () => {
    const core = script({ maxFillAgeMs: 5_000 })
    core.run(data(2, message(40, 30)), closed(2), closed(3))
    const lines = core.pass(4_000).filter((line) => /fetch|lost/.test(line))
    expect(lines).toEqual([])
    expect(core.pass(3_000).filter((line) => /fetch|lost/.test(line))).toEqual(['lost (0,30]'])
  })

  it('of many ranges costs few packets, and has them worked on oldest first', () => {
    const core = script({ maxRangesInWork: 100 })
    for (let i = 1; i <= 200; i++) core.run(data(2, message(i * 20, i * 20 - 10)))
    const fetches = core.pass(20).filter((line) => line.startsWith('fetch'))
    expect(fetches).toHaveLength(2)
    expect(fetches[0]).toContain('fetch 2 (0,10] (20,30]')
    expect(core.core.counters['gap.opened']).toBe(200)
  })

  it('is only waited for when filling is off, and then passed over', () => {
    const core = script()
    core.run({ type: 'join', streamPartId: partId, fillGaps: false, reads: true }, data(2, message(40, 30)))
    expect(gapLines(core.pass(100))).toEqual(['lost (0,30]'])
  })

  it('is not looked for in a stream part that was left', () => {
    const core = script()
    core.run(data(2, message(40, 30)))
    core.pass(20)
    core.run({ type: 'leave', streamPartId: partId })
    core.run(fetched(2, core))
    expect(core.core.counters['fetch.unexpected']).toBe(1)
    expect(core.pass(60_000).filter((line) => /fetch|lost/.test(line))).toEqual([])
  })
})

describe('the archive', () => {
  const archived = (offsetMs: number, previous: number) => {
    const batch = message(offsetMs, previous)
    return { type: 'archived', batch, packet: packetOf(batch) } as const
  }

  it('is asked after the neighbours, and what it gives floods on', () => {
    const core = script({ archiveAfterRounds: 1 }, { hasArchive: true })
    core.run(data(2, message(40, 30)))
    core.pass(20)
    core.run(fetched(2, core))
    core.run(fetched(3, core))
    expect(gapLines(core.pass(20))).toEqual(['fetch 2 (0,30]', 'archive (0,30]'])
    expect(gapLines(core.run(archived(30, 0)))).toEqual(['data 2', 'data 3', 'deliver 30'])
    expect(core.core.counters).toMatchObject({
      'gap.filledByArchive': 1,
      'gap.archiveAsked': 1,
      'gap.lost': 0,
    })
  })

  it('is waited for while it sends, and then the gap is lost', () => {
    const core = script({}, { hasArchive: true })
    core.run(data(2, message(40, 30)))
    expect(core.pass(50_000).filter((line) => /lost/.test(line))).toEqual([])
    const [gap] = core.archiveGaps
    if (gap === undefined) throw new Error('not asked')
    expect(gapLines(core.run({ type: 'archiveEnded', gap }))).toEqual([])
    expect(gapLines(core.pass(2_000))).toContain('lost (0,30]')
    expect(core.core.counters['gap.archiveAsked']).toBe(1)
  })

  it('is asked before a gap is given up, also when a neighbour has sent a little of it all the while', () => {
    const core = script({ maxFillAgeMs: 1_000 }, { hasArchive: true })
    core.run(data(2, message(900, 890)))
    for (let i = 1; i < 90; i++) {
      core.pass(20)
      core.run(data(2, message(i * 10, i * 10 - 10)), fetched(2, core, false), fetched(3, core, false))
    }
    expect(core.archiveGaps).toHaveLength(1)
    expect(core.lostGaps).toEqual([])
  })

  it('is asked soon, though a neighbour that seems far away answers nothing', () => {
    const core = script({}, { hasArchive: true })
    core.rttOf = (peerId) => (peerId === idOf(3) ? 9_000 : 20)
    core.run(data(2, message(40, 30)))
    const openedMs = core.nowMs
    for (let asked: ControlPacket | undefined; core.archiveGaps.length === 0;) {
      const isOfNearest = core.pass(1).includes('fetch 2 (0,30]')
      if (isOfNearest && core.sent.at(-1) !== asked) core.run(fetched(2, core))
      asked = core.sent.at(-1)
    }
    expect(core.nowMs - openedMs).toBeLessThan(7_000)
  })

  it('is not waited for for ever', () => {
    const core = script({ maxArchiveAgeMs: 60_000 }, { hasArchive: true })
    core.run(data(2, message(40, 30)))
    expect(core.pass(59_000).filter((line) => /lost/.test(line))).toEqual([])
    expect(core.pass(3_000).filter((line) => /lost/.test(line))).toEqual(['lost (0,30]'])
  })

  it('is asked for many ranges of a chain at once', () => {
    const core = script({}, { hasArchive: true })
    core.run(data(2, message(50, 40)), data(3, message(20, 10)))
    expect(core.pass(5_000).filter((line) => line.startsWith('archive'))).toEqual(['archive (0,40]'])
  })

  it('cannot bring in what its publisher did not sign', () => {
    const core = script({}, { hasArchive: true })
    core.run(data(2, message(40, 30)))
    const batch = message(30, 0)
    const bytes = batch.bytes.slice()
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1
    const forgery = { ...batch, bytes, signature: bytes.subarray(bytes.length - 65) }
    expect(core.run({ type: 'archived', batch: forgery, packet: packetOf(forgery) })).toEqual([
      'dropped data.forged',
    ])
    expect(core.core.isMissing(partId, chain, at(30))).toBe(true)
  })
})

describe('a neighbour that misses something', () => {
  const fetch = (after: number, upTo: number, requestId = 1): ControlPacket => ({
    type: 'fetch',
    requestId,
    streamPartId: partId,
    publisherId: chain.publisherId,
    messageChainId: 'c',
    ranges: [{ after: at(after), upTo: at(upTo) }],
  })

  it('is sent what there is, and told when that was all', () => {
    const core = script()
    core.run(data(2, message(10, 0)), data(2, message(20, 10)))
    expect(core.run(control(3, fetch(0, 10)))).toEqual(['data 3', 'fetched 3'])
    expect(core.run(control(3, fetch(20, 30)))).toEqual(['fetched 3'])
  })

  it('is sent a bounded answer, and told that there is more', () => {
    const core = script({ maxFetchReplyBytes: packetOf(message(10, 0)).length * 2 })
    for (let i = 1; i <= 5; i++) core.run(data(2, message(i * 10, i * 10 - 10)))
    expect(core.run(control(3, fetch(0, 50)))).toEqual(['data 3', 'data 3', 'fetched 3 and there is more'])
  })

  it('that overtakes its attach is refused without harm, and answered when it is asked again', () => {
    const core = new CoreScript().withNeighbours(2)
    core.run(data(2, message(10, 0)), instruct(2, 2, 4), opened(4))
    core.pass(6_000)
    expect(core.run(control(4, fetch(0, 10)))).toEqual(['dropped fetch.refused'])
    core.run(attach(4))
    expect(core.run(control(4, fetch(0, 10)))).toEqual(['data 4', 'fetched 4'])
    expect(core.core.counters['peers.misbehaved']).toBe(0)
  })

  it('is refused when it is no neighbour, asks too much, or cannot take more', () => {
    const core = script({ maxFetchesPerS: 2 })
    core.run(data(2, message(10, 0)))
    expect(core.run(control(4, fetch(0, 10)))).toEqual(['dropped fetch.refused'])
    core.canTakeMore = false
    expect(core.run(control(3, fetch(0, 10)))).toEqual([
      'dropped fetch.refused',
      'fetched 3 and there is more',
    ])
    core.canTakeMore = true
    expect(core.run(control(3, fetch(0, 10)))).toEqual(['data 3', 'fetched 3'])
    expect(core.run(control(3, fetch(0, 10)))).toEqual(['dropped fetch.refused'])
    core.pass(500)
    expect(core.run(control(3, fetch(0, 10)))).toEqual(['data 3', 'fetched 3'])
  })
})

describe('the end of a chain', () => {
  const head = (offsetMs: number, messageChainId = 'c') => ({
    ...{ publisherId: chain.publisherId, messageChainId },
    ...at(offsetMs),
  })
  const heads = (offsetMs: number, messageChainId?: string): ControlPacket => ({
    type: 'heads',
    streamPartId: partId,
    heads: [head(offsetMs, messageChainId)],
  })

  const scheduled = () => new CoreScript({ headsIntervalMs: 100, maxRecentAgeMs: 30_000 })
  const tellings = (lines: readonly string[]) => lines.filter((line) => line.startsWith('heads'))

  it('is told to neighbours: soon, then ever more rarely, and then no more', () => {
    const core = scheduled().withNeighbours(2)
    core.run(publish(message(0)))
    expect(core.pass(199)).toEqual([])
    expect(core.pass(1)).toEqual(['heads 2 [0]'])
    expect(core.pass(200)).toEqual(['heads 2 [0]'])
    expect(tellings(core.pass(60_000))).toHaveLength(6)
    expect(core.core.dueMs).toBe(Infinity)
    core.run(publish(message(61_000, 0)))
    expect(core.pass(200)).toEqual(['heads 2 [61000]'])
  })

  it('is told once, and first, to the one it came from: all others were sent it', () => {
    const core = scheduled().withNeighbours(2, 3)
    core.run(data(2, message(0)))
    expect(tellings(core.pass(199))).toEqual(['heads 2 [0]'])
    expect(new Set(tellings(core.pass(60_000)))).toEqual(new Set(['heads 3 [0]']))
  })

  it('is confirmed of all chains at once, and told in turn to those who may lack it, however many there are', () => {
    const core = scheduled().withNeighbours(2, 3)
    const chainIds = Array.from({ length: 150 }, (_, i) => `chain ${i}`)
    for (const chainId of chainIds) core.run(data(2, batchAt([startMs], { chainId })))
    const told = (lines: readonly string[], peer: number) =>
      tellings(lines).filter((line) => line.startsWith(`heads ${peer} `))
    expect(told(core.pass(199), 2)).toHaveLength(3)
    core.sent.length = 0
    for (let turn = 0; turn < 3; turn++) expect(told(core.pass(turn === 0 ? 1 : 100), 3)).toHaveLength(1)
    const heads = core.sent.flatMap((packet) => (packet.type === 'heads' ? packet.heads : []))
    expect(new Set(heads.map(({ messageChainId }) => messageChainId))).toEqual(new Set(chainIds))
  })

  it('has no turn any more once those who may lack it have shown that they have it', () => {
    const core = scheduled().withNeighbours(2, 3)
    const chainIds = Array.from({ length: 150 }, (_, i) => `chain ${i}`)
    for (const chainId of chainIds) core.run(data(2, batchAt([startMs], { chainId })))
    expect(tellings(core.pass(200))).toHaveLength(4)
    core.run(...chainIds.map((chainId) => control(3, heads(0, chainId))))
    expect(tellings(core.pass(60_000))).toEqual([])
  })

  it('comes to a neighbour that lost it, of many more chains than fit one telling', () => {
    const [from, to] = [new CoreScript().withNeighbours(2), new CoreScript().withNeighbours(2)]
    const batches = Array.from({ length: 400 }, (_, i) => batchAt([startMs], { chainId: `chain ${i}` }))
    const batchOf = new Map(batches.map((batch) => [packetOf(batch).join(), batch]))
    let copies = 0
    from.onData = (_, packet) => {
      const batch = batchOf.get(packet.join())
      const isLost = copies < batches.length && copies % 2 === 0
      copies++
      if (batch !== undefined && !isLost) to.run(data(2, batch))
    }
    from.run(...batches.map(publish))
    expect(to.delivered).toHaveLength(200)
    for (let i = 0; i < 300; i++) pass10Ms(from, to)
    expect(to.delivered).toHaveLength(400)
  })

  it('is not told to those who have shown that they have it', () => {
    const core = scheduled().withNeighbours(2, 3, 4, 5)
    core.run(data(2, message(0)), data(3, message(0)), control(4, heads(0)))
    expect(tellings(core.pass(199))).toEqual(['heads 2 [0]'])
    expect(new Set(tellings(core.pass(60_000)))).toEqual(new Set(['heads 5 [0]']))
    core.run(publish(message(61_000, 0)))
    expect(tellings(core.pass(200))).toHaveLength(4)
  })

  it('is told to a neighbour that attaches again: it may be another process, which has nothing', () => {
    const core = scheduled().withNeighbours(2, 3)
    core.run(data(2, message(0)), control(3, heads(0)))
    expect(tellings(core.pass(5_000))).toEqual(['heads 2 [0]'])
    core.run(attach(3))
    expect(new Set(tellings(core.pass(60_000)))).toEqual(new Set(['heads 3 [0]']))
  })

  it('is told to a neighbour that was gone, and may have lost it', () => {
    const core = scheduled().withNeighbours(2)
    core.run(data(2, message(0)), closed(2), opened(2), attach(2))
    expect(tellings(core.pass(1_000))).not.toEqual([])
    core.run(closed(2), opened(2), attach(2, 0, [head(0)]))
    expect(tellings(core.pass(60_000))).toEqual([])
  })

  it('is fetched from a neighbour that is ahead, when it does not come by itself', () => {
    const core = script()
    core.run(control(2, heads(10)), control(3, heads(10)))
    expect(gapLines(core.pass(19))).toEqual([])
    expect(gapLines(core.pass(1))).toEqual(['fetch 2 (0,10]'])
    core.run(data(2, message(10, 0)), fetched(2, core))
    expect(gapLines(core.pass(1_000))).toEqual([])
    expect(core.core.counters['heads.unmet']).toBe(0)
  })

  it('of a chain never seen is fetched too, but not from before the join', () => {
    const core = new CoreScript({ replayMarginMs: 100 }).withNeighbours(2)
    core.run(control(2, heads(-200)), control(2, heads(10, 'new')))
    expect(core.pass(1_000).filter((line) => line.startsWith('fetch'))[0]).toBe('fetch 2 (-101,10]')
  })

  it('is asked for again when a neighbour is silent, and not when it sent nothing', () => {
    const core = script()
    core.run(control(2, heads(10)))
    expect(gapLines(core.pass(100))).toEqual(['fetch 2 (0,10]', 'fetch 2 (0,10]'])
    expect(gapLines(core.run(fetched(2, core)))).toEqual([])
    expect(core.core.counters['heads.unmet']).toBe(1)
    expect(gapLines(core.pass(10_000))).toEqual([])
  })

  it('is not believed, nor remembered for many chains, and a false one silences nobody', () => {
    const core = script({ maxHeadClaims: 2 })
    for (let i = 0; i < 5; i++) core.run(control(2, heads(60_000, `chain ${i}`)))
    expect(core.core.counters['heads.dropped']).toBe(3)
    core.run(control(2, heads(60_000)))
    core.pass(10_000)
    expect(gapLines(core.run(data(3, message(10, 0))))).toEqual(['data 2', 'deliver 10'])
  })

  it('is fetched from an honest neighbour though another one claims more all the while', () => {
    const core = script()
    const fetches: string[] = []
    for (let ms = 0; ms < 1_000; ms += 10) {
      core.run(control(2, heads(60_000 + ms)))
      if (ms % 100 === 0) core.run(control(3, heads(10)))
      fetches.push(...core.pass(10).filter((line) => line.startsWith('fetch')))
      if (fetches.at(-1)?.startsWith('fetch 2') === true) core.run(fetched(2, core))
    }
    expect(fetches.some((line) => line === 'fetch 3 (0,10]')).toBe(true)
  })

  it('is fetched once though every neighbour tells of it', () => {
    const core = script()
    core.run(control(2, heads(10)), control(3, heads(10)))
    expect(gapLines(core.pass(20))).toEqual(['fetch 2 (0,10]'])
    core.run(data(2, message(10, 0)), fetched(2, core))
    expect(gapLines(core.pass(1_000))).toEqual([])
  })

  it('is fetched from an honest neighbour after one try of another that claims what does not exist', () => {
    const core = script()
    core.run(control(2, heads(60_000)), control(3, heads(10)))
    expect(gapLines(core.pass(79))).toEqual(['fetch 2 (0,60000]'])
    expect(gapLines(core.pass(1))).toEqual(['fetch 2 (0,60000]', 'fetch 3 (0,10]'])
  })

  it('is fetched as soon, though that other one seems far away, and claims more each time it is asked', () => {
    const core = script()
    core.rttOf = (peerId) => (peerId === idOf(2) ? 5_000 : 20)
    core.run(control(2, heads(60_000)), control(3, heads(10)))
    const fetches = core.pass(20).filter((line) => line.startsWith('fetch'))
    for (let ms = 1; ms <= 60; ms++) {
      if (ms % 5 === 0) core.run(fetched(2, core, false), control(2, heads(60_000 + ms)))
      fetches.push(...core.pass(1).filter((line) => line.startsWith('fetch 3')))
    }
    expect(fetches).toEqual(['fetch 2 (0,60000]', 'fetch 3 (0,10]'])
  })

  it('is fetched on when the neighbour told of more while it was asked', () => {
    const core = script()
    core.run(control(2, heads(10)))
    core.pass(20)
    core.run(control(2, heads(30)), control(2, heads(20)), data(2, message(10, 0)), fetched(2, core))
    expect(gapLines(core.pass(20))).toEqual(['fetch 2 (10,30]'])
    core.run(control(2, heads(40)), data(2, message(40, 10)), fetched(2, core))
    expect(gapLines(core.pass(10_000))).toEqual([])
    expect(core.core.counters['heads.unmet']).toBe(0)
  })

  it('is not believed beyond what clocks may differ by', () => {
    const core = script()
    core.run(control(2, heads(1e9)))
    expect(gapLines(core.pass(1_000))).toEqual([])
  })

  it('is not heard from somebody who is no neighbour', () => {
    const core = new CoreScript()
    core.run(join, control(5, heads(10)), attach(5))
    expect(core.pass(1_000).filter((line) => line.startsWith('fetch'))).toEqual([])
  })
})

describe('a fetch under way', () => {
  it('is answered only by who was asked', () => {
    const core = script()
    core.run(data(2, message(40, 30)))
    core.pass(20)
    core.run(fetched(3, core))
    expect(core.core.counters['fetch.unexpected']).toBe(1)
  })
})
