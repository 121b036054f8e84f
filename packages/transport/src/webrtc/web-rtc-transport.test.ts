import { isIP } from 'node:net'
import {
  encodePacket,
  PacketType,
  toStreamId,
  toStreamPartId,
  type NodeId,
  type Signal,
} from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { dial, failureCode, type DialResult, type Station } from '../conformance/transport-pair.testkit.ts'
import type { Connection } from '../ports.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { negotiationSide, type Side } from './negotiation.testkit.ts'
import { carriedHello, carryingHello, withoutOurLines } from './sdp.ts'
import { createPeerConnection } from './node-peer-connection.ts'
import type { DataChannelPort, PeerConnectionEvents, PeerConnectionPort } from './peer-connection-port.ts'
import { SignallingNetwork } from './signalling.testkit.ts'
import type { WebRtcModules, WebRtcOptions, WebRtcTransport } from './web-rtc-transport.ts'

const toStop: WebRtcTransport[] = []
afterEach(async () => void (await Promise.all(toStop.splice(0).map((transport) => transport.stop()))))

async function station(
  network: SignallingNetwork,
  name: string,
  options?: WebRtcOptions,
  extra?: Partial<WebRtcModules>,
) {
  const made = await network.transport(name, options, extra)
  toStop.push(made.transport)
  return made
}

const dialTo = (from: Station, to: Station): Promise<DialResult> => dial(from, { peerId: to.nodeId })

type Send = Parameters<typeof negotiationSide>[0]
const none = new Uint8Array(0)
const helloLine = /a=runnel-hello:[\w-]+/

/**
 * Carries the signals of a and b, but has a peer connection of its own with each, in the other's name, and passes every frame on. Hellos he passes
 * on with his own descriptions, or takes out, so that they go by the channels.
 */
class ManInTheMiddle {
  relayedFrames = 0
  /** The last two peer connections that were set up were open. */
  isBetween = false
  #sides: (Side & { accept(answerOfB: string): void })[] = []

  constructor(network: SignallingNetwork, a: NodeId, b: NodeId, passesHellos: boolean) {
    const passed = (payload: string) => (passesHellos ? payload : withoutOurLines(payload))
    network.alter = (from, { payload: whole, ...signal }) => {
      const payload = passed(whole)
      if (signal.kind === 'offer') {
        const send = (to: NodeId, as: NodeId) => (kind: Signal['kind'], text: string) => {
          setImmediate(() => network.deliver(to, { ...signal, peerId: as, kind, payload: passed(text) }))
          return true
        }
        this.#stand(payload, send(a, b), send(b, a))
      } else {
        const [towardsA, towardsB] = this.#sides.slice(-2)
        const { kind } = signal
        setImmediate(() => {
          if (kind === 'answer') towardsA?.accept(payload)
          ;(from === a ? towardsA : towardsB)?.negotiation.handle(kind, payload)
        })
      }
      return []
    }
  }

  stop(): void {
    for (const { negotiation, channel } of this.#sides) {
      negotiation.close()
      channel.then((open) => open.close(true)).catch(() => {})
    }
  }

  /** Offers to b first, whose answer has the hello for his answer to a. */
  #stand(offer: string, sendToA: Send, sendToB: Send): void {
    let helloOfB: Uint8Array = none
    const towardsB = negotiationSide(sendToB, { hello: () => carriedHello(offer) ?? none })
    const towardsA = negotiationSide(sendToA, { hello: () => helloOfB })
    const accept = (answer: string) => {
      helloOfB = carriedHello(answer) ?? none
      towardsA.negotiation.accept(offer)
    }
    this.#sides.push({ ...towardsA, accept }, { ...towardsB, accept })
    this.isBetween = false
    towardsB.negotiation.offer()
    this.#relay(towardsA, towardsB)
    this.#relay(towardsB, towardsA)
    const both = Promise.all([towardsA.channel, towardsB.channel])
    const turn = this.#sides.length
    both.then(() => (this.isBetween = this.#sides.length === turn)).catch(() => {})
  }

  #relay(from: Side, to: Side): void {
    const relay = async () => {
      const channel = await from.channel
      channel.events = {
        onFrame: (frame) => {
          this.relayedFrames++
          void to.channel.then((other) => other.send(frame)).catch(() => {})
        },
        onDrain() {},
        onClose() {},
      }
    }
    relay().catch(() => {})
  }
}

/** A peer connection that does nothing until the test says so. */
function idlePeerConnections() {
  const made: PeerConnectionEvents[] = []
  const port: PeerConnectionPort = {
    path: undefined,
    remoteAddress: undefined,
    offer() {},
    setRemote() {},
    addCandidate: () => true,
    openLane() {},
    close() {},
  }
  return {
    made,
    create: (_: unknown, events: PeerConnectionEvents) => {
      made.push(events)
      return port
    },
  }
}

/** A data channel on which the other side does nothing. */
function idleChannel(): DataChannelPort {
  return { bufferedBytes: 0, events: { onMessage() {}, onText() {}, onLow() {}, onClose() {} }, send() {} }
}

const fingerprint = Array.from({ length: 32 }, () => 'AB').join(':')
const plausibleSdp = `m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=fingerprint:sha-256 ${fingerprint}\r\n`

function offerOf(peerId: NodeId, sessionId: number, payload = plausibleSdp): Signal {
  return { type: 'signal', peerId, sessionId, kind: 'offer', payload }
}

describe('WebRtcTransport and who carries its signals', () => {
  it.each([
    ['passes the hellos on with his descriptions', true, 2],
    ['leaves them to the channels', false, 3],
  ])('opens nothing through a man in the middle who %s', async (_, passesHellos, frames) => {
    const network = new SignallingNetwork()
    const [a, b] = [await station(network, 'a'), await station(network, 'b')]
    const man = new ManInTheMiddle(network, a.nodeId, b.nodeId, passesHellos)
    let result = await dialTo(a, b)
    // Where he did not get in between, in time, nobody has looked at a signature.
    while (!man.isBetween) result = await dialTo(a, b)
    expect(result).toMatchObject({ code: 'HANDSHAKE_FAILED', message: expect.stringContaining('signature') })
    await expect.poll(() => man.relayedFrames).toBeGreaterThanOrEqual(frames)
    expect([a.transport.counters.opened, b.transport.counters.opened]).toEqual([0, 0])
    man.stop()
  })

  it.each([
    [
      'changed',
      (payload: string) => {
        const hello = carriedHello(payload) ?? new Uint8Array()
        // In its nonce, of which anything may be.
        const changed = hello.with(40, (hello[40] ?? 0) ^ 1)
        return carryingHello(payload.replace(helloLine, 'a=x'), changed)
      },
    ],
    [
      'one of before',
      (payload: string, before: string) => payload.replace(helloLine, helloLine.exec(before)?.[0] ?? ''),
    ],
    ['taken out', (payload: string) => payload.replace(helloLine, 'a=x')],
  ])('opens nothing where the hello in the answer was %s', async (_, alter) => {
    const network = new SignallingNetwork()
    const [a, b] = [await station(network, 'a'), await station(network, 'b')]
    let before = ''
    network.alter = (_from, signal) => {
      if (signal.kind === 'answer') before = signal.payload
      return [signal]
    }
    const first = await dialTo(a, b)
    expect(failureCode(first)).toBeUndefined()
    network.alter = (_from, signal) =>
      signal.kind === 'answer' ? [{ ...signal, payload: alter(signal.payload, before) }] : [signal]
    expect(failureCode(await dialTo(a, b))).toBe('HANDSHAKE_FAILED')
    expect([a.transport.counters.opened, b.transport.counters.opened]).toEqual([1, 1])
  })

  it('opens nothing when a fingerprint was changed on the way', async () => {
    const network = new SignallingNetwork()
    const [a, b] = [
      await station(network, 'a', { dialTimeoutMs: 2000 }),
      await station(network, 'b', { dialTimeoutMs: 2000 }),
    ]
    network.alter = (_, signal) => {
      const payload = signal.payload.replace(
        /^a=fingerprint:sha-256 .*$/m,
        `a=fingerprint:sha-256 ${fingerprint}\r`,
      )
      return [{ ...signal, payload }]
    }
    expect(failureCode(await dialTo(a, b))).toMatch(/^DIAL_(FAILED|TIMEOUT)$/)
  })

  it('connects when candidates overtake descriptions', async () => {
    const network = new SignallingNetwork()
    const [a, b] = [await station(network, 'a'), await station(network, 'b')]
    const held: Signal[] = []
    network.alter = (_, signal) => {
      if (signal.kind === 'offer') return [signal]
      if (signal.kind === 'answer') {
        held.push(signal)
        return []
      }
      return [signal, ...held.splice(0)]
    }
    expect(failureCode(await dialTo(a, b))).toBeUndefined()
  })

  it('knows how a link goes', async () => {
    const network = new SignallingNetwork()
    const [a, b] = [await station(network, 'a'), await station(network, 'b')]
    const connection = await dialTo(a, b)
    expect(connection).toMatchObject({
      path: { local: 'host', remote: expect.stringMatching(/^(host|prflx)$/) },
    })
  })

  it('says that there is no way to the peer', async () => {
    const network = new SignallingNetwork()
    const a = await station(network, 'a')
    const other = await station(new SignallingNetwork(), 'b')
    expect(failureCode(await dialTo(a, other))).toBe('NO_SIGNALLING')
  })

  it('takes neither a changed id nor signals of sessions it does not know', async () => {
    const network = new SignallingNetwork()
    const [a, b, c] = [await station(network, 'a'), await station(network, 'b'), await station(network, 'c')]
    for (const kind of ['answer', 'candidate', 'reject'] as const) {
      a.transport.handleSignal({ type: 'signal', peerId: b.nodeId, sessionId: 1, kind, payload: 'x' })
    }
    expect(a.transport.counters.signalsIgnored).toBe(3)
    // What a sends to b goes to c, and comes back as from b.
    network.alter = (from, signal) => {
      const to = from === a.nodeId ? c.nodeId : a.nodeId
      const as = from === a.nodeId ? a.nodeId : b.nodeId
      setImmediate(() => network.deliver(to, { ...signal, peerId: as }))
      return []
    }
    expect(failureCode(await dialTo(a, b))).toBe('PEER_ID_MISMATCH')
  })

  it.each([
    ['no SDP', 'rubbish'],
    ['an SDP without what ICE needs', plausibleSdp],
    ['nothing', ''],
    ['too much', plausibleSdp + 'a=x\r\n'.repeat(10_000)],
  ])('rejects an offer of %s', async (_, payload) => {
    const network = new SignallingNetwork()
    const [a, b] = [await station(network, 'a'), await station(network, 'b')]
    a.transport.handleSignal(offerOf(b.nodeId, 1, payload))
    expect(network.sent).toMatchObject([{ kind: 'reject', sessionId: 1, peerId: b.nodeId }])
    expect(failureCode(await dialTo(b, a))).toBeUndefined()
  })
})

describe('WebRtcTransport limits', () => {
  it('refuses connections above the limit, in both directions', async () => {
    const network = new SignallingNetwork()
    const a = await station(network, 'a', { maxConnections: 1 })
    const [b, c] = [await station(network, 'b'), await station(network, 'c')]
    expect(failureCode(await dialTo(a, b))).toBeUndefined()
    expect(failureCode(await dialTo(a, c))).toBe('TOO_MANY_CONNECTIONS')
    expect(failureCode(await dialTo(c, a))).toBe('TOO_MANY_CONNECTIONS')
    expect(a.transport.counters.offersRefused).toBe(1)
  })

  it('refuses offers above the limits, of one node and of all', async () => {
    const network = new SignallingNetwork()
    const idle = idlePeerConnections()
    const a = await station(
      network,
      'a',
      { maxPendingInbound: 3, maxPendingInboundPerPeer: 2 },
      { createPeerConnection: idle.create },
    )
    const [b, c] = [await station(network, 'b'), await station(network, 'c')]
    for (let sessionId = 1; sessionId <= 4; sessionId++)
      a.transport.handleSignal(offerOf(b.nodeId, sessionId))
    a.transport.handleSignal(offerOf(b.nodeId, 1))
    expect([idle.made.length, a.transport.counters.offersRefused]).toEqual([2, 2])
    for (let sessionId = 1; sessionId <= 2; sessionId++)
      a.transport.handleSignal(offerOf(c.nodeId, sessionId))
    expect([idle.made.length, a.transport.counters.offersRefused]).toEqual([3, 3])
    expect(a.transport.counters.signalsIgnored).toBe(1)
    expect(network.sent.map(({ kind, payload }) => [kind, payload])).toEqual(
      Array.from({ length: 3 }, () => ['reject', 'TOO_MANY_CONNECTIONS']),
    )
  })

  it('counts failed attempts among the offers until their channels are closed', async () => {
    const network = new SignallingNetwork()
    const idle = idlePeerConnections()
    const clock = new VirtualClock()
    const extra = { clock, createPeerConnection: idle.create }
    const a = await station(network, 'a', { maxPendingInboundPerPeer: 4 }, extra)
    const b = await station(network, 'b')
    for (let sessionId = 0; sessionId < 4; sessionId++) {
      a.transport.handleSignal(offerOf(b.nodeId, sessionId))
      const channel = idleChannel()
      idle.made[sessionId]?.onDescription('answer', plausibleSdp)
      idle.made[sessionId]?.onOpen(channel)
      channel.events.onMessage(new Uint8Array([255]))
    }
    clock.advanceBy(0)
    expect(a.transport.counters.failed).toBe(4)
    a.transport.handleSignal(offerOf(b.nodeId, 4))
    expect([idle.made.length, a.transport.counters.offersRefused]).toEqual([4, 1])
    for (const { onClose } of idle.made) onClose('closed')
    for (let sessionId = 4; sessionId < 9; sessionId++) a.transport.handleSignal(offerOf(b.nodeId, sessionId))
    expect([idle.made.length, a.transport.counters.offersRefused]).toEqual([8, 2])
  })

  it('gives an attempt so much time, on both sides', async () => {
    const network = new SignallingNetwork()
    const clock = new VirtualClock()
    const idle = idlePeerConnections()
    const extra = { clock, createPeerConnection: idle.create }
    const [a, b] = [await station(network, 'a', {}, extra), await station(network, 'b')]
    const result = dialTo(a, b)
    a.transport.handleSignal(offerOf(b.nodeId, 1))
    clock.advanceBy(14_999)
    expect(a.transport.counters.failed).toBe(0)
    clock.advanceBy(1)
    expect(failureCode(await result)).toBe('DIAL_TIMEOUT')
    expect(a.transport.counters.failed).toBe(2)
  })
})

describe('WebRtcTransport dials', () => {
  it('tries again when one fails at once, a few times, and not when it took a while', async () => {
    const network = new SignallingNetwork()
    const clock = new VirtualClock()
    const idle = idlePeerConnections()
    const extra = { clock, createPeerConnection: idle.create }
    const [a, b] = [await station(network, 'a', { maxQuickRetries: 2 }, extra), await station(network, 'b')]
    const quick = dialTo(a, b)
    clock.advanceBy(1)
    for (let tries = 1; tries <= 3; tries++) {
      expect([idle.made.length, a.transport.counters.retries]).toEqual([tries, tries - 1])
      // As on a busy machine, where a set-up takes longer.
      clock.advanceBy(3000)
      idle.made[tries - 1]?.onClose('failed')
    }
    expect(failureCode(await quick)).toBe('DIAL_FAILED')

    const slow = dialTo(a, b)
    clock.advanceBy(6000)
    idle.made[3]?.onClose('failed')
    expect(failureCode(await slow)).toBe('DIAL_FAILED')
    expect([idle.made.length, a.transport.counters.retries]).toEqual([4, 2])
  })

  it('opens when a later try succeeds', async () => {
    const network = new SignallingNetwork()
    let count = 0
    const a = await station(
      network,
      'a',
      {},
      {
        createPeerConnection(options, events) {
          if (++count === 1) throw new Error('by the test')
          return createPeerConnection(options, events)
        },
      },
    )
    const b = await station(network, 'b')
    expect(failureCode(await dialTo(a, b))).toBeUndefined()
    expect(a.transport.counters.retries).toBeGreaterThanOrEqual(1)
  })

  it('opens fifty at once', async () => {
    const network = new SignallingNetwork()
    // A hundred ends in one process: on a busy machine its turns take longer than a dial may.
    const patient = { dialTimeoutMs: 60_000 }
    const a = await station(network, 'a', { ...patient, maxPendingInbound: 100 })
    const others = await Promise.all(
      Array.from({ length: 50 }, (_, index) => station(network, `other ${index}`, patient)),
    )
    const results = await Promise.all(
      others.map((other, index) => (index % 2 === 0 ? dialTo(a, other) : dialTo(other, a))),
    )
    expect(results.map(failureCode).filter((code) => code !== undefined)).toEqual([])
  })

  it('uses ICE servers set later, and leaves out what is none', async () => {
    const network = new SignallingNetwork()
    const seen: unknown[] = []
    const a = await station(
      network,
      'a',
      { iceServers: ['stun:192.0.2.1'], maxQuickRetries: 0 },
      {
        createPeerConnection(options) {
          seen.push(options.iceServers.map(({ url }) => url))
          throw new Error('by the test')
        },
      },
    )
    const b = await station(network, 'b')
    await dialTo(a, b)
    a.transport.setIceServers([{ url: 'turn:192.0.2.2', username: 'u', credential: 'c' }, 'rubbish'])
    await dialTo(a, b)
    expect(seen).toEqual([['stun:192.0.2.1:3478'], ['turn:192.0.2.2:3478']])
    expect(a.transport.counters.iceServersIgnored).toBe(1)
  })

  it('refuses to start with an ICE server that is none', async () => {
    await expect(new SignallingNetwork().transport('a', { iceServers: ['rubbish'] })).rejects.toMatchObject({
      code: 'INVALID_ICE_SERVER',
    })
  })

  it('works on an address and ports of choice', async () => {
    const network = new SignallingNetwork()
    const options: WebRtcOptions = { bindAddress: '127.0.0.1', portRange: [42_000, 42_100] }
    const [a, b] = [await station(network, 'a', options), await station(network, 'b', options)]
    expect(failureCode(await dialTo(a, b))).toBeUndefined()
    const candidates = network.sent
      .filter(({ kind }) => kind === 'candidate')
      .map(({ payload }) => payload.split(' '))
    expect(candidates.length).toBeGreaterThan(0)
    for (const fields of candidates) {
      expect(fields[4]).toBe('127.0.0.1')
      expect(Number(fields[5])).toBeGreaterThanOrEqual(42_000)
      expect(Number(fields[5])).toBeLessThanOrEqual(42_100)
    }
  })
})

it('says what address the other end sends from', async () => {
  const network = new SignallingNetwork()
  const [a, b] = [await station(network, 'a'), await station(network, 'b')]
  const result = await dialTo(a, b)
  if (result instanceof Error) throw result
  expect(isIP(result.remoteAddress ?? '')).not.toBe(0)
})

describe('packets behind the proof of who offers', () => {
  const streamPartId = toStreamPartId(toStreamId(`0x${'a'.repeat(40)}/s`), 0)
  const first = encodePacket({ type: 'attach', streamPartId, sinceMs: 1, heads: [] })

  /** Dials, and sends something more once the link is open: what came from one end to the other, in order, and what the dialling end says. */
  const open = async (network: SignallingNetwork) => {
    const [a, b] = [await station(network, 'a'), await station(network, 'b')]
    const types: number[] = []
    const arrived = new Promise<Connection>((resolve) => {
      b.transport.onInbound = (connection) => {
        const onPacket = (type: number) => {
          types.push(type)
          if (type === PacketType.leave) resolve(connection)
        }
        connection.events = { onPacket, onDrain() {}, onClose() {} }
      }
    })
    const dialled = await new Promise<Connection>((resolve, reject) => {
      a.transport.dial({ peerId: b.nodeId, first: () => first, onOpen: resolve, onFail: reject })
    })
    dialled.send(encodePacket({ type: 'leave', streamPartId }))
    return { types, dialled, inbound: await arrived }
  }

  it('come first, and once, and the connection says so', async () => {
    const { types, dialled, inbound } = await open(new SignallingNetwork())
    expect(types).toEqual([PacketType.attach, PacketType.leave])
    expect(dialled.saidFirst).toEqual(first)
    expect(inbound.saidFirst).toBeUndefined()
  })

  it('are not sent where the answer carries no hello', async () => {
    const network = new SignallingNetwork()
    network.alter = (_, signal) => [{ ...signal, payload: withoutOurLines(signal.payload) }]
    const { types, dialled } = await open(network)
    expect(types).toEqual([PacketType.leave])
    expect(dialled.saidFirst).toBeUndefined()
  })
})
