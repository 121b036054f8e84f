import type { Contact, NodeId, Signal } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import type { OpenSignal } from '../ports.ts'
import { testModules } from '../conformance/modules.testkit.ts'
import { createPeerConnection } from '../webrtc/node-peer-connection.ts'
import { WebRtcTransport } from '../webrtc/web-rtc-transport.ts'
import { WebSocketTransport } from '../ws/web-socket-transport.ts'
import { createLinks, type LinksOwner } from './create-links.ts'
import { numbered } from './links.testkit.ts'

const toAddress = (text: string) => ({ kind: 'websocket', text })

type Shape = 'reachable' | 'dialler' | 'rtcOnly' | 'wrongUrl'

interface MixedNode {
  readonly nodeId: NodeId
  readonly links: LinksOwner
  readonly contact: Contact
  /** Resolves with the next of these, `opened`, `closed CODE` or `failed CODE`. */
  next(): Promise<string>
  stop(): Promise<void>
}

/** Hears of each signal, and says whether it arrives. */
let onSignal = (_: Signal): boolean => true

const nodes: MixedNode[] = []
const rtc = new Map<NodeId, WebRtcTransport>()
afterEach(async () => {
  onSignal = () => true
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
})

/** A node with real transports; signals go from hand to hand. */
async function createMixedNode(name: string, shape: Shape): Promise<MixedNode> {
  const modules = testModules(name, systemClock)
  const { nodeId } = modules.identity
  const listen = { host: '127.0.0.1', port: 0 }
  const websocket = new WebSocketTransport(
    { role: 'node', ...(shape === 'reachable' ? { listen } : {}) },
    modules,
  )
  const signalling = {
    send(signal: Signal) {
      const arrives = onSignal(signal)
      if (arrives) setImmediate(() => rtc.get(signal.peerId)?.handleSignal({ ...signal, peerId: nodeId }))
      return true
    },
  }
  const webrtc = new WebRtcTransport({}, { ...modules, signalling, createPeerConnection })
  rtc.set(nodeId, webrtc)
  const contact = (): Contact => ({
    addresses: [
      // The discard port: a URL that is announced and does not work.
      ...(shape === 'wrongUrl' ? ['ws://127.0.0.1:9'] : websocket.addresses).map(toAddress),
      { kind: 'webrtc', text: '' },
    ],
    dials: shape === 'rtcOnly' ? ['webrtc'] : ['websocket', 'webrtc'],
  })
  const transports = [websocket, webrtc]
  const links = createLinks({ self: nodeId, contact }, { clock: systemClock, transports })
  await Promise.all([websocket.start(), webrtc.start()])
  const log: string[] = []
  const waiting: ((entry: string) => void)[] = []
  const tell = (entry: string) => {
    const first = waiting.shift()
    if (first) first(entry)
    else log.push(entry)
  }
  links.events = {
    onOpened: () => tell('opened'),
    onClosed: (_, { code }) => tell(`closed ${code}`),
    onFailed: (_, { code }) => tell(`failed ${code}`),
    onPacket() {},
    onDrain() {},
  }
  const node: MixedNode = {
    nodeId,
    links,
    contact: contact(),
    next: () => {
      const entry = log.shift()
      return entry === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(entry)
    },
    async stop() {
      links.stop()
      await Promise.all([websocket.stop(), webrtc.stop()])
      rtc.delete(nodeId)
    },
  }
  nodes.push(node)
  return node
}

async function link(first: Shape, second: Shape): Promise<[MixedNode, MixedNode]> {
  const [a, b] = [await createMixedNode('a', first), await createMixedNode('b', second)]
  a.links.connect(b.nodeId, b.contact)
  b.links.connect(a.nodeId, a.contact)
  return [a, b]
}

describe('Links over WebSocket and WebRTC', () => {
  it.each<[Shape, Shape, string]>([
    ['reachable', 'reachable', 'websocket'],
    ['reachable', 'dialler', 'websocket'],
    ['dialler', 'reachable', 'websocket'],
    ['dialler', 'dialler', 'webrtc'],
    ['rtcOnly', 'reachable', 'webrtc'],
    ['reachable', 'rtcOnly', 'webrtc'],
    ['dialler', 'wrongUrl', 'webrtc'],
    ['wrongUrl', 'dialler', 'webrtc'],
    ['wrongUrl', 'wrongUrl', 'webrtc'],
  ])('%s and %s use %s', async (first, second, transport) => {
    const [a, b] = await link(first, second)
    expect(await Promise.all([a.next(), b.next()])).toEqual(['opened', 'opened'])
    expect(a.links.peers.get(b.nodeId)?.transport).toBe(transport)
    expect(b.links.peers.get(a.nodeId)?.transport).toBe(transport)
    a.links.disconnect(b.nodeId, 'UNUSED', '')
    expect(await Promise.all([a.next(), b.next()])).toEqual(['closed UNUSED', 'closed UNUSED'])
  })

  it.each(['offers', 'waits for the offer'])(
    'open when signals were lost and the side that %s begins again',
    async (which) => {
      const { promise: offerLost, resolve } = Promise.withResolvers<void>()
      onSignal = ({ kind }) => {
        if (kind === 'offer') resolve()
        return false
      }
      const sides = await link('dialler', 'dialler')
      const [lower, higher] = sides.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1)) as typeof sides
      const [from, to] = which === 'offers' ? [lower, higher] : [higher, lower]
      await offerLost
      onSignal = () => true
      from.links.connect(to.nodeId, to.contact, { again: true })
      expect(await Promise.all(sides.map((side) => side.next()))).toEqual(['opened', 'opened'])
    },
  )

  it('open when the offer is withdrawn for which the side waits that would offer otherwise', async () => {
    const sides = [await createMixedNode('a', 'dialler'), await createMixedNode('b', 'dialler')]
    const [lower, higher] = sides.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1)) as [MixedNode, MixedNode]
    const toLower = (signal: OpenSignal): void =>
      rtc.get(lower.nodeId)?.handleSignal({ type: 'signal', peerId: higher.nodeId, ...signal })
    const sessionId = await new Promise<number>((resolve) => {
      rtc.get(higher.nodeId)?.offerOpenly({
        send(signal) {
          if (signal.kind === 'offer') toLower(signal)
          resolve(signal.sessionId)
          return true
        },
      })
    })
    expect(rtc.get(lower.nodeId)?.roleWith(higher.nodeId)).toBe('wait')
    lower.links.connect(higher.nodeId, higher.contact)
    higher.links.connect(lower.nodeId, lower.contact)
    toLower({ sessionId, kind: 'reject', payload: 'UNUSED' })
    expect(await Promise.all(sides.map((side) => side.next()))).toEqual(['opened', 'opened'])
  })

  it('begin nothing again where the first way needs no signals', async () => {
    const signals: Signal[] = []
    onSignal = (signal) => signals.push(signal) > 0
    const [a, b] = await link('reachable', 'dialler')
    a.links.connect(b.nodeId, b.contact, { again: true })
    b.links.connect(a.nodeId, a.contact, { again: true })
    expect(await Promise.all([a.next(), b.next()])).toEqual(['opened', 'opened'])
    expect(a.links.peers.get(b.nodeId)?.transport).toBe('websocket')
    expect(signals).toEqual([])
  })

  it('open once when old contacts make both sides dial', async () => {
    const [a, b] = [await createMixedNode('a', 'reachable'), await createMixedNode('b', 'reachable')]
    // Each believes that only the other can be reached.
    a.links.connect(b.nodeId, { ...b.contact, dials: ['webrtc'] })
    b.links.connect(a.nodeId, { ...a.contact, dials: ['webrtc'] })
    expect(await Promise.all([a.next(), b.next()])).toEqual(['opened', 'opened'])
    // Who dialled is through first: what comes of it shows that the other is too.
    const received = new Promise<void>((resolve) => {
      b.links.events = { ...b.links.events, onPacket: () => resolve() }
    })
    expect(a.links.send(b.nodeId, numbered(1))).toBe(true)
    await received
    b.links.disconnect(a.nodeId, 'UNUSED', '')
    expect(await b.next()).toBe('closed UNUSED')
    // Where b's own dial was not through yet, that connection broke off without a word.
    expect(await a.next()).toMatch(/^closed (UNUSED|CONNECTION_LOST)$/)
  })

  it('close on both sides when one stops', async () => {
    const [a, b] = await link('dialler', 'dialler')
    await Promise.all([a.next(), b.next()])
    await a.stop()
    expect(await Promise.all([a.next(), b.next()])).toEqual(['closed SHUTTING_DOWN', 'closed SHUTTING_DOWN'])
  })
})
