import { showProgress } from '../phase.ts'
import { cpuUs, percentile } from '../statistics.ts'
import { bareNetwork } from './bare-network.ts'

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

/**
 * The floor: a flood over bare links, packed or not, with a set of seen numbers, no codec and no checks.
 * Node 0 is the source of all messages.
 */
export async function bareFlood(
  transport: 'webrtc' | 'websocket',
  nodes: number,
  pack: boolean,
): Promise<BareFlood> {
  let delivered = 0
  let duplicatesBefore = 0
  let expected = 0
  let onDelivery: (index: number) => void = () => {}
  let finished: () => void = () => {}
  const network = await bareNetwork({
    ...{ transport, nodes, pack, degree: 4 },
    onDelivery(index) {
      delivered++
      onDelivery(index)
      if (settled()) finished()
    },
    onDuplicate: () => settled() && finished(),
  })
  const duplicates = () => network.duplicates - duplicatesBefore
  // Each node but the source passes a message to all but one of its neighbours; what is no delivery is a duplicate.
  const duplicatesOfOne = 2 * network.edgeCount - 2 * (nodes - 1)
  /** A flood is over when its duplicates have arrived too: they cost as well. */
  const settled = () => delivered === expected && duplicates() === (expected / (nodes - 1)) * duplicatesOfOne
  let nextIndex = 0
  const publish = () => network.publish(nextIndex++)
  const begin = (messages: number) => {
    delivered = 0
    duplicatesBefore = network.duplicates
    expected = messages * (nodes - 1)
    showProgress(() => `${delivered} of ${expected} deliveries`)
    return new Promise<void>((resolve) => (finished = resolve))
  }
  return {
    async saturate(messages) {
      const done = begin(messages)
      const startMs = performance.now()
      const startUs = cpuUs()
      let left = messages
      const burst = () => {
        const busy = network.isBusy()
        for (let i = 0; !busy && i < 64 && left > 0; i++, left--) publish()
        if (left > 0) setImmediate(burst)
      }
      burst()
      await done
      return {
        deliveriesPerS: (expected / (performance.now() - startMs)) * 1000,
        cpuUsPerDelivery: (cpuUs() - startUs) / expected,
        duplicatesPerMessage: duplicates() / messages,
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
    close: () => network.close(),
  }
}
