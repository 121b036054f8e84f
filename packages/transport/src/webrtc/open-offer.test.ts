import type { Clock, NodeId } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dial } from '../conformance/transport-pair.testkit.ts'
import { planWays } from '../links/link-plan.ts'
import type { CloseReason, Connection, OpenOffer, OpenSignal } from '../ports.ts'
import { SignallingNetwork } from './signalling.testkit.ts'
import type { WebRtcOptions, WebRtcTransport } from './web-rtc-transport.ts'

const toStop: WebRtcTransport[] = []
afterEach(async () => void (await Promise.all(toStop.splice(0).map((transport) => transport.stop()))))

/** A node that offers, one that may be chosen, and a tracker's part between them: it keeps open signals until then. */
async function newcomer(options: WebRtcOptions = {}) {
  const network = new SignallingNetwork()
  const [a, b] = [await network.transport('a', options), await network.transport('b')]
  toStop.push(a.transport, b.transport)
  const kept: OpenSignal[] = []
  const inbound: Connection[] = []
  const closed: CloseReason[] = []
  b.transport.onInbound = (connection) => {
    inbound.push(connection)
    connection.events = { onPacket() {}, onDrain() {}, onClose: (reason) => closed.push(reason) }
  }
  let chosen = false
  const pass = (signal: OpenSignal): void =>
    network.deliver(b.nodeId, { type: 'signal', peerId: a.nodeId, ...signal })
  const offer = a.transport.offerOpenly({
    send: (signal) => {
      kept.push(signal)
      if (chosen) setImmediate(pass, signal)
      return true
    },
  })
  /**
   * The tracker hands the offer on; the newcomer hears of it first. Candidates follow once the answer is there: without any delay between the two, the
   * library may check the certificate before it has stored the answer.
   */
  const choose = (taken: OpenOffer): void => {
    taken.taken(b.nodeId)
    const isOffer = ({ kind }: OpenSignal) => kind === 'offer'
    network.alter = (_, signal) => {
      if (signal.kind !== 'answer') return [signal]
      a.transport.handleSignal({ ...signal, peerId: b.nodeId })
      chosen = true
      for (const candidate of kept.filter((each) => !isOffer(each))) pass(candidate)
      return []
    }
    for (const signal of kept.filter(isOffer)) pass(signal)
  }
  const isLeft = () => vi.waitFor(() => expect(kept.map(({ kind }) => kind)).toContain('offer'))
  return { network, a, b, kept, inbound, closed, offer, choose, isLeft }
}

describe('an offer to a peer that is yet to be chosen', () => {
  it('is taken up by the dial of that peer', async () => {
    const { network, a, b, kept, inbound, offer, choose, isLeft } = await newcomer()
    await isLeft()
    expect(offer).toBeDefined()
    choose(offer as OpenOffer)
    expect(a.transport.roleWith(b.nodeId)).toBe('dial')
    expect(b.transport.roleWith(a.nodeId)).toBe('wait')
    expect(await dial(a, { peerId: b.nodeId })).toMatchObject({ peerId: b.nodeId, direction: 'outbound' })
    await vi.waitFor(() => expect(inbound.map(({ peerId }) => peerId)).toEqual([a.nodeId]))
    expect(network.sent.filter(({ kind }) => kind === 'offer')).toEqual([])
    expect(kept.filter(({ kind }) => kind === 'offer')).toHaveLength(1)
    expect([a, b].map(({ transport }, i) => transport.roleWith([b, a][i]?.nodeId as NodeId))).toEqual([
      undefined,
      undefined,
    ])
    expect(a.transport.counters).toMatchObject({ dials: 1, openOffers: 1, opened: 1, failed: 0 })
  })

  it('opens nothing with another than the chosen one', async () => {
    const { network, a, b, kept, offer, isLeft } = await newcomer()
    const stranger = await network.transport('c')
    toStop.push(stranger.transport)
    await isLeft()
    ;(offer as OpenOffer).taken(b.nodeId)
    for (const signal of kept)
      network.deliver(stranger.nodeId, { type: 'signal', peerId: a.nodeId, ...signal })
    await vi.waitFor(() => expect(a.transport.counters.signalsIgnored).toBeGreaterThan(0))
    expect(a.transport.counters.opened).toBe(0)
  })

  it('opens a connection like those of others when nobody dials that peer', async () => {
    const { a, b, inbound, closed, offer, choose, isLeft } = await newcomer()
    const opened: Connection[] = []
    a.transport.onInbound = (connection) => opened.push(connection)
    await isLeft()
    choose(offer as OpenOffer)
    await vi.waitFor(() => expect([opened, inbound].map(({ length }) => length)).toEqual([1, 1]), 10_000)
    expect(opened).toMatchObject([{ peerId: b.nodeId, direction: 'outbound' }])
    expect(closed).toEqual([])
    expect(a.transport.roleWith(b.nodeId)).toBeUndefined()
  })

  it('is under way to that peer also when it is dialled, which has its own time limit', async () => {
    const { a, b, offer, isLeft } = await newcomer()
    await isLeft()
    offer?.taken(b.nodeId)
    const result = dial(a, { peerId: b.nodeId, timeoutMs: 50 })
    await new Promise((resolve) => setImmediate(resolve))
    expect(a.transport.roleWith(b.nodeId)).toBe('dial')
    expect(await result).toMatchObject({ code: 'DIAL_TIMEOUT' })
    expect(a.transport.roleWith(b.nodeId)).toBeUndefined()
  })

  it('is dialled where it has taken the last place', async () => {
    const { a, b, offer, choose, isLeft } = await newcomer({ maxConnections: 1 })
    await isLeft()
    choose(offer as OpenOffer)
    expect(await dial(a, { peerId: b.nodeId })).toMatchObject({ peerId: b.nodeId })
  })

  it('is forgotten when the transport stops', async () => {
    const { network, a, b, offer, isLeft } = await newcomer()
    await isLeft()
    offer?.taken(b.nodeId)
    await a.transport.stop()
    await a.transport.start()
    expect(await dial(a, { peerId: b.nodeId })).toMatchObject({ peerId: b.nodeId })
    const offers = network.sent.filter(({ kind }) => kind === 'offer')
    expect(offers).toHaveLength(1 + a.transport.counters.retries)
  })

  it('leaves nothing when it is withdrawn before it is made', async () => {
    const schedule = vi.fn<Clock['schedule']>((delayMs, callback) => systemClock.schedule(delayMs, callback))
    const clock: Clock = { ...systemClock, schedule }
    const { transport } = await new SignallingNetwork().transport('a', {}, { clock })
    toStop.push(transport)
    transport.offerOpenly({ send: () => true })?.withdraw()
    await new Promise((resolve) => setImmediate(resolve))
    expect(schedule).not.toHaveBeenCalled()
  })

  it('is withdrawn while nobody is chosen, and then cannot be taken', async () => {
    const { a, b, kept, offer, isLeft } = await newcomer()
    await isLeft()
    offer?.withdraw()
    expect(kept.at(-1)).toMatchObject({ kind: 'reject', sessionId: offer?.sessionId })
    offer?.taken(b.nodeId)
    expect(a.transport.roleWith(b.nodeId)).toBeUndefined()
  })

  it('ends for whoever dials when the chosen one refuses', async () => {
    const { network, a, b, offer, isLeft } = await newcomer()
    await isLeft()
    const { sessionId, taken } = offer as OpenOffer
    taken(b.nodeId)
    const result = dial(a, { peerId: b.nodeId })
    await new Promise((resolve) => setImmediate(resolve))
    const payload = 'TOO_MANY_CONNECTIONS'
    network.deliver(a.nodeId, { type: 'signal', peerId: b.nodeId, sessionId, kind: 'reject', payload })
    expect(await result).toMatchObject({ code: 'TOO_MANY_CONNECTIONS' })
    expect(a.transport.roleWith(b.nodeId)).toBeUndefined()
  })

  it.each<[string, WebRtcOptions]>([
    ['there is no room', { maxConnections: 0 }],
    ['only relays may be used, and none is known', { iceTransportPolicy: 'relay' }],
  ])('is not made where %s', async (_, options) => {
    const { offer, kept } = await newcomer(options)
    expect(offer).toBeUndefined()
    expect(kept).toEqual([])
  })
})

it('decides who dials, whichever id is lower', () => {
  const contact = { addresses: [{ kind: 'webrtc', text: '' }], dials: ['webrtc'] }
  const [low, high] = ['1', '2'].map((digit) => `0x${digit.repeat(40)}` as NodeId) as [NodeId, NodeId]
  const roleOf = (self: NodeId, peer: NodeId, role?: 'dial' | 'wait') =>
    planWays({
      ...{ self, peer, contact, peerContact: contact, transports: new Set(['webrtc']) },
      roleIn: () => role,
    }).map((way) => way.role)
  expect([roleOf(low, high), roleOf(high, low)]).toEqual([['dial'], ['wait']])
  expect([roleOf(low, high, 'wait'), roleOf(high, low, 'dial')]).toEqual([['wait'], ['dial']])
})
