import { toStreamPartId, type NodeToTracker, type Status } from '@runnel/protocol'
import { VirtualClock, type OpenOfferRequest, type Transport } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { idOf, partId, streamId } from '../core/core.testkit.ts'
import { directWay } from '../core/tracker-link/way.ts'
import { OpenOffers } from './open-offers.ts'

const limits = { openOfferMs: 10_000, offerWaitMs: 50, minOfferRttMs: 25 }
const [self, other, trackerId] = [idOf(1), idOf(2), idOf(9)]
const way = directWay({ nodeId: trackerId, url: 'wss://tracker.example' })
const join: Status = { type: 'status', streamPartId: partId, counter: 0, neighbours: [], failed: [] }
const leave = { type: 'leave', streamPartId: partId } as const
const otherPartId = toStreamPartId(streamId, 1)
const sessionId = 7
const offer = { sessionId, kind: 'offer', payload: 'v=0' } as const

interface World {
  readonly rttMs?: number | undefined
  readonly isKnown?: boolean
  readonly hasSpoken?: boolean
  readonly isFull?: boolean
  readonly listens?: boolean
  readonly linked?: boolean
}

/** The offers of a node, with what it sent the tracker and what became of its offers. */
function world({
  rttMs = 100,
  isKnown = true,
  hasSpoken = true,
  isFull = false,
  listens = false,
  linked = false,
}: World = {}) {
  const clock = new VirtualClock()
  const sent: string[] = []
  const fate: string[] = []
  let request: OpenOfferRequest | undefined
  const webrtc: Partial<Transport> = {
    kind: 'webrtc',
    addresses: [''],
    offerOpenly: (asked) => {
      if (isFull) return undefined
      request = asked
      return {
        sessionId,
        taken: (peerId) => fate.push(`taken by ${peerId}`),
        withdraw: () => fate.push('withdrawn'),
      }
    },
  }
  const websocket: Partial<Transport> = { kind: 'websocket', addresses: listens ? ['ws://192.0.2.1'] : [] }
  const offers = new OpenOffers(limits, {
    ...{ self, clock, transports: [websocket, webrtc] as Transport[] },
    trackers: {
      send: (_, packet: NodeToTracker) =>
        sent.push(packet.type === 'signal' ? `${packet.kind} to ${packet.peerId}` : packet.type) > 0,
      hasCapability: () => isKnown,
      hasSpoken: () => hasSpoken,
      rttMs: () => rttMs,
    },
    isLinked: () => linked,
    unexpected: () => fate.push('unexpected'),
  })
  return { clock, sent, fate, offers, signal: () => request?.send(offer), request: () => request }
}

describe('a join', () => {
  it('goes behind the offer, with what follows about any stream part', () => {
    const { sent, offers, signal, request } = world()
    offers.send(way, join)
    offers.send(way, leave)
    offers.send(way, { ...join, streamPartId: otherPartId })
    offers.send(way, { type: 'nodeInfo', contact: { addresses: [], dials: [] } })
    expect(sent).toEqual(['nodeInfo'])
    expect(request()?.signalDelayMs).toBe(50)
    signal()
    expect(sent).toEqual(['nodeInfo', `offer to ${self}`, 'status', 'leave', 'status'])
    offers.send(way, leave)
    expect(sent.at(-1)).toBe('leave')
  })

  it('goes without an offer that takes too long, which is withdrawn', () => {
    const { clock, sent, fate, offers } = world()
    offers.send(way, join)
    clock.advanceBy(limits.offerWaitMs)
    expect(sent).toEqual(['status'])
    expect(fate).toEqual(['withdrawn'])
  })

  it.each<[string, World]>([
    ['near the tracker', { rttMs: 24 }],
    ['with a tracker that does not know of it', { isKnown: false }],
    ['before the tracker can have named ICE servers', { hasSpoken: false }],
    ['where there is no room for a link', { isFull: true }],
    ['of a node that others dial', { listens: true }],
  ])('makes no offer %s', (_, options) => {
    const { sent, offers } = world(options)
    offers.send(way, join)
    expect(sent).toEqual(['status'])
  })

  it('makes no second offer, and one again after the first is taken', () => {
    const { sent, offers, signal } = world()
    offers.send(way, join)
    signal()
    offers.send(way, { ...join, streamPartId: otherPartId })
    expect(sent).toEqual([`offer to ${self}`, 'status', 'status'])
    offers.taken(way, { type: 'offerTaken', sessionId, peerId: other })
    offers.send(way, join)
    expect(sent).toHaveLength(3)
    signal()
    expect(sent.slice(3)).toEqual([`offer to ${self}`, 'status'])
  })

  it('is no other status', () => {
    const { sent, offers } = world()
    offers.send(way, { ...join, counter: 1 })
    offers.send(way, { ...join, neighbours: [{ nodeId: other, rttMs: 1 }] })
    expect(sent).toEqual(['status', 'status'])
  })
})

describe('an offer', () => {
  it('is bound to whom the tracker chose', () => {
    const { fate, offers, signal } = world()
    offers.send(way, join)
    signal()
    offers.taken(way, { type: 'offerTaken', sessionId, peerId: other })
    expect(fate).toEqual([`taken by ${other}`])
  })

  it('of none is refused', () => {
    const { sent, fate, offers } = world()
    offers.taken(way, { type: 'offerTaken', sessionId, peerId: other })
    expect([sent, fate]).toEqual([[`reject to ${other}`], ['unexpected']])
  })

  it('to a peer that is linked is withdrawn', () => {
    const { fate, offers, signal } = world({ linked: true })
    offers.send(way, join)
    signal()
    offers.taken(way, { type: 'offerTaken', sessionId, peerId: other })
    expect(fate).toEqual(['withdrawn'])
  })

  it.each<[string, (offers: OpenOffers, clock: VirtualClock) => void]>([
    ['after a while', (_, clock) => clock.advanceBy(limits.openOfferMs)],
    ['when the connection ends', (offers) => offers.closed(way)],
    ['when the node stops', (offers) => offers.stop()],
  ])('is withdrawn %s', (_, act) => {
    const { clock, fate, offers, signal } = world()
    offers.send(way, join)
    signal()
    act(offers, clock)
    expect(fate).toEqual(['withdrawn'])
    offers.stop()
    expect(fate).toEqual(['withdrawn'])
  })
})
