import { packetBytes } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { openLink, type PairFaults, type PairOptions, type TransportPair } from './transport-pair.testkit.ts'

const packet = packetBytes(0x10, new Uint8Array(1000))

/** What every transport must do when the network or the other side fails. */
export function describeFaults(make: (options?: PairOptions) => Promise<TransportPair>): void {
  it('notices a peer that is silent', async () => {
    const pair = await make({ limits: { pingIntervalMs: 40, maxMissedPongs: 3 } })
    const [a, b] = await openLink(pair)
    faultsOf(pair).silence()
    const reasons = await pair.settle(Promise.all([a.closed, b.closed]))
    expect(reasons.map(({ code, remote }) => [code, remote])).toEqual([
      ['PEER_DEAD', false],
      ['PEER_DEAD', false],
    ])
  })

  it('keeps an idle link alive with pings', async () => {
    // A busy machine may stand still for longer than a short interval.
    const pair = await make({ limits: { pingIntervalMs: 300, maxPingIntervalMs: 300, maxMissedPongs: 2 } })
    const [a, b] = await openLink(pair)
    faultsOf(pair)
    // Six answered pings in a row are more than a dead peer gets.
    const other = await openLink(pair, pair.a, faultsOf(pair).c)
    while (a.connection.stats.packetsIn < 6 && a.reasons.length + b.reasons.length === 0) {
      other[0].connection.send(packet)
      await pair.settle(other[1].count(other[1].packets.length + 1))
    }
    expect([a.reasons, b.reasons]).toEqual([[], []])
    expect(a.connection.rttMs).toBeGreaterThanOrEqual(0)
  })

  it('reports a link that breaks, once', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    faultsOf(pair).cut()
    const reasons = await pair.settle(Promise.all([a.closed, b.closed]))
    expect(reasons.map(({ code, remote }) => [code, remote])).toEqual([
      ['CONNECTION_LOST', false],
      ['CONNECTION_LOST', false],
    ])
    expect(a.connection.send(packet)).toBe(false)
    a.connection.close('UNUSED', 'too late')
    expect([a.reasons.length, b.reasons.length]).toEqual([1, 1])
  })

  it('holds a bounded queue for a peer that takes no data, and gives it up', async () => {
    const limits = {
      highMarkBytes: 64 * 1024,
      lowMarkBytes: 16 * 1024,
      maxQueueBytes: 256 * 1024,
      stallTimeoutMs: 400,
    }
    const pair = await make({ limits })
    const [a] = await openLink(pair)
    const [toC, c] = await openLink(pair, pair.a, faultsOf(pair).c)
    faultsOf(pair).stallB(true)
    let largestQueueBytes = 0
    let sentToC = 0
    while (a.reasons.length === 0) {
      while (a.connection.send(packet));
      largestQueueBytes = Math.max(largestQueueBytes, a.connection.queuedBytes)
      // The third station gets its packet in every round, whatever b does.
      if (toC.connection.send(packet)) sentToC++
      await pair.settle(c.count(sentToC))
    }
    expect(a.reasons[0]).toMatchObject({ code: 'SLOW_PEER', remote: false })
    expect(largestQueueBytes).toBeLessThanOrEqual(limits.maxQueueBytes + 1024)
    expect(a.connection.stats.packetsDropped).toBeGreaterThan(0)
    expect(toC.connection.stats.packetsDropped).toBe(0)
    expect(toC.reasons).toEqual([])
    faultsOf(pair).stallB(false)
  })

  it('delivers all it accepted when a stalled peer reads again', async () => {
    const pair = await make({
      limits: { highMarkBytes: 64 * 1024, lowMarkBytes: 16 * 1024, maxQueueBytes: 256 * 1024 },
    })
    const [a, b] = await openLink(pair)
    const [toC, c] = await openLink(pair, pair.a, faultsOf(pair).c)
    faultsOf(pair).stallB(true)
    let accepted = 0
    // Until nothing has left in twenty rounds with the third station; then all buffers on the way are full.
    for (let idle = 0, rounds = 0; idle < 20; idle++) {
      while (a.connection.send(packet)) {
        accepted++
        idle = 0
      }
      toC.connection.send(packet)
      await pair.settle(c.count(++rounds))
    }
    expect(a.connection.writable).toBe(false)
    expect(b.packets.length).toBeLessThan(accepted)
    faultsOf(pair).stallB(false)
    // It may have drained before, and filled again.
    await pair.settle(Promise.all([b.count(accepted), a.until(() => a.connection.writable)]))
    expect(b.packets.length).toBe(accepted)
    expect(a.connection.writable).toBe(true)
  })
}

function faultsOf({ faults }: TransportPair): PairFaults {
  if (faults === undefined) throw new Error('this pair has no faults')
  return faults
}
