import { seededRandom } from '@runnel/protocol'
import { OverlayTopology } from '@runnel/tracker'
import { bareDataChannelPair } from '../bare/bare-data-channel.ts'
import { packed, type BareLink } from '../bare/bare-link.ts'
import { bareWebSocketPair } from '../bare/bare-websocket.ts'
import { cpuUs, percentile } from '../statistics.ts'

export interface FloodFigures {
  readonly deliveriesPerS: number
  readonly cpuUsPerDelivery: number
  readonly duplicatesPerMessage: number
}

export interface BareFlood {
  saturate(messages: number): Promise<FloodFigures>
  /** Delays in milliseconds from the source to every other node, at `perS` messages a second. */
  delays(messages: number, perS: number): Promise<{ p50: number; p99: number }>
  close(): void
}

const messageBytes = 100
const maxQueuedBytes = 1024 * 1024

/**
 * The floor: a degree-4 flood over packed bare links with a set of seen numbers, no codec and no checks.
 * Node 0 is the source of all messages.
 */
export async function bareFlood(
  transport: 'webrtc' | 'websocket',
  nodes: number,
  degree: number,
): Promise<BareFlood> {
  const topology = new OverlayTopology<string>({ degree }, { random: seededRandom('bare-flood') })
  for (let i = 0; i < nodes; i++) topology.add(String(i))
  const links: BareLink[][] = Array.from({ length: nodes }, () => [])
  for (const [a, b] of topology.edges()) {
    const pair = await (transport === 'webrtc' ? bareDataChannelPair() : bareWebSocketPair())
    links[Number(a)]?.push(packed(pair[0]))
    links[Number(b)]?.push(packed(pair[1]))
  }
  let delivered = 0
  let duplicates = 0
  let expected = 0
  let onDelivery: (index: number) => void = () => {}
  let finished: () => void = () => {}
  // Each node but the source passes a message to all but one of its neighbours; what is no delivery is a duplicate.
  const duplicatesOfOne = 2 * topology.edgeCount - 2 * (nodes - 1)
  /** A flood is over when its duplicates have arrived too: they cost as well. */
  const settled = () => delivered === expected && duplicates === (expected / (nodes - 1)) * duplicatesOfOne
  const seen = Array.from({ length: nodes }, () => new Set<number>())
  const receive = (node: number, from: BareLink | undefined, message: Uint8Array) => {
    const index = new DataView(message.buffer, message.byteOffset).getUint32(0)
    if (seen[node]?.has(index)) {
      duplicates++
      if (settled()) finished()
      return
    }
    seen[node]?.add(index)
    for (const link of links[node] ?? []) if (link !== from) link.send(message)
    if (node === 0) return
    delivered++
    onDelivery(index)
    if (settled()) finished()
  }
  links.forEach((own, node) =>
    own.forEach((link) => (link.onMessage = (message) => receive(node, link, message))),
  )
  let nextIndex = 0
  const publish = () => {
    const message = new Uint8Array(messageBytes)
    new DataView(message.buffer).setUint32(0, nextIndex++)
    receive(0, undefined, message)
  }
  const begin = (messages: number) => {
    delivered = duplicates = 0
    expected = messages * (nodes - 1)
    return new Promise<void>((resolve) => (finished = resolve))
  }
  return {
    async saturate(messages) {
      const done = begin(messages)
      const startMs = performance.now()
      const startUs = cpuUs()
      let left = messages
      const burst = () => {
        const busy = links.some((own) => own.some((link) => link.buffered() > maxQueuedBytes))
        for (let i = 0; !busy && i < 64 && left > 0; i++, left--) publish()
        if (left > 0) setImmediate(burst)
      }
      burst()
      await done
      return {
        deliveriesPerS: (expected / (performance.now() - startMs)) * 1000,
        cpuUsPerDelivery: (cpuUs() - startUs) / expected,
        duplicatesPerMessage: duplicates / messages,
      }
    },
    async delays(messages, perS) {
      const done = begin(messages)
      const sentMs = new Map<number, number>()
      const delaysMs: number[] = []
      onDelivery = (index) => delaysMs.push(performance.now() - (sentMs.get(index) ?? 0))
      let left = messages
      const timer = setInterval(() => {
        sentMs.set(nextIndex, performance.now())
        publish()
        if (--left === 0) clearInterval(timer)
      }, 1000 / perS)
      await done
      onDelivery = () => {}
      return { p50: percentile(delaysMs, 0.5), p99: percentile(delaysMs, 0.99) }
    },
    close: () => links.flat().forEach((link) => link.close()),
  }
}
