import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  urgentCapability,
  type NodeId,
  type Signal,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import {
  createPeerConnection,
  WebRtcTransport,
  WebSocketTransport,
  type Connection,
  type Transport,
} from '@runnel/transport'
import { Line, type LineOptions } from './line.ts'
import { ShapedTcp } from './shaped-tcp.ts'
import { ShapedUdp } from './shaped-udp.ts'

/** Two ends of one link. */
export interface ShapedPair {
  readonly a: Connection
  readonly b: Connection
  close(): Promise<void>
}

const crypto = await loadCrypto()

const newModules = () => ({
  ...{ clock: systemClock, random: systemRandom, crypto },
  identity: createIdentity(generatePrivateKey(systemRandom), crypto),
  capabilities: [{ name: urgentCapability, required: false }],
})

/** A link of real transports over a slow line, both ways. */
export function shapedPair(transport: 'webrtc' | 'websocket', options: LineOptions): Promise<ShapedPair> {
  const lines = { there: new Line(options), back: new Line(options) }
  return transport === 'webrtc' ? webRtcPair(lines) : webSocketPair(lines)
}

type Lines = ConstructorParameters<typeof ShapedTcp>[0]

async function webSocketPair(lines: Lines): Promise<ShapedPair> {
  const [ofA, ofB] = [newModules(), newModules()]
  const listen = { host: '127.0.0.1', port: 0 }
  const a = new WebSocketTransport({ role: 'node' }, ofA)
  const b = new WebSocketTransport({ role: 'node', listen }, ofB)
  await Promise.all([a.start(), b.start()])
  const proxy = new ShapedTcp(lines)
  const port = await proxy.start(Number(new URL(b.addresses[0] ?? '').port))
  const ends = await open(a, b, { peerId: ofB.identity.nodeId, url: `ws://127.0.0.1:${port}` })
  const close = async (): Promise<void> => {
    await Promise.all([a.stop(), b.stop()])
    proxy.close()
  }
  return { ...ends, close }
}

async function webRtcPair({ there, back }: Lines): Promise<ShapedPair> {
  const [ofA, ofB] = [newModules(), newModules()]
  const proxies: ShapedUdp[] = []
  /** Signals reach the other end in order, candidates with the port of a proxy before them. */
  const signalling = (to: () => WebRtcTransport, from: typeof ofA, lines: Lines) => {
    let before: Promise<void> = Promise.resolve()
    return {
      send: (signal: Signal): boolean => {
        before = before.then(async () => {
          const payload = await shaped(signal, lines, proxies)
          if (payload !== undefined) to().handleSignal({ ...signal, peerId: from.identity.nodeId, payload })
        })
        return true
      },
    }
  }
  // What is sent to a proxy before an end goes towards that end.
  const a: WebRtcTransport = new WebRtcTransport(
    {},
    { ...ofA, createPeerConnection, signalling: signalling(() => b, ofA, { there: back, back: there }) },
  )
  const b: WebRtcTransport = new WebRtcTransport(
    {},
    { ...ofB, createPeerConnection, signalling: signalling(() => a, ofB, { there, back }) },
  )
  await Promise.all([a.start(), b.start()])
  const ends = await open(a, b, { peerId: ofB.identity.nodeId })
  const close = async (): Promise<void> => {
    await Promise.all([a.stop(), b.stop()])
    for (const proxy of proxies) proxy.close()
  }
  return { ...ends, close }
}

/** Undefined for what would go past the line. */
async function shaped(
  { kind, payload }: Signal,
  lines: Lines,
  proxies: ShapedUdp[],
): Promise<string | undefined> {
  if (kind !== 'candidate') return payload.replaceAll(/^a=candidate:.*\r?\n/gm, '')
  const [, before, address, port, after] = / udp /i.test(payload)
    ? (/^(.* )(\d+\.\d+\.\d+\.\d+) (\d+)( typ host.*)$/s.exec(payload) ?? [])
    : []
  if (before === undefined || address === undefined || after === undefined) return undefined
  const proxy = new ShapedUdp(lines)
  proxies.push(proxy)
  return `${before}127.0.0.1 ${await proxy.start({ address, port: Number(port) })}${after}`
}

async function open(
  a: Transport,
  b: Transport,
  address: { readonly peerId: NodeId; readonly url?: string },
): Promise<{ a: Connection; b: Connection }> {
  const inbound = new Promise<Connection>((resolve) => (b.onInbound = resolve))
  const outbound = new Promise<Connection>((resolve, reject) =>
    a.dial({ ...address, onOpen: resolve, onFail: reject }),
  )
  const [ofA, ofB] = await Promise.all([outbound, inbound])
  return { a: ofA, b: ofB }
}
