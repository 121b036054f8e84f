import { createNetworkNode } from '@runnel/network'
import { loadCrypto, type Cancel, type NodeId, type StreamPartId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { answerCalls } from '../child-calls.ts'
import { newIdentity } from '../swarm.ts'

const crypto = await loadCrypto()
/** How long each timer of the node took, in milliseconds. */
let ticksMs: number[] = []

function schedule(delayMs: number, fn: () => void): Cancel {
  return systemClock.schedule(delayMs, () => {
    const beganMs = systemClock.monotonicMs()
    fn()
    ticksMs.push(systemClock.monotonicMs() - beganMs)
  })
}

const calls = {
  nodeId: () => identity.nodeId,
  /** Starts the node under test; resolves when it has a neighbour. */
  async start(tracker: { nodeId: NodeId; url: string }, streamPartId: StreamPartId) {
    const trackers = { trackersFor: () => [tracker], onChange: () => () => {} }
    const publisherPolicy = { check: () => 'allowed' as const, resolve: async () => {} }
    const clock = {
      now: () => systemClock.now(),
      monotonicMs: () => systemClock.monotonicMs(),
      endOfTurn: (fn: () => void) => systemClock.endOfTurn(fn),
      schedule,
    }
    node = createNetworkNode(
      { transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } },
      { identity, crypto, clock, random: systemRandom, publisherPolicy, trackers },
    )
    node.on('message', () => {
      received++
      if (received === awaited) onArrived()
    })
    await node.start()
    node.join(streamPartId)
    await node.waitForNeighbours(streamPartId)
  },
  /** Resolves when so many messages have come. */
  arrived(count: number): Promise<void> {
    awaited = count
    return received >= count ? Promise.resolve() : new Promise((resolve) => (onArrived = resolve))
  },
  /** Bytes that cannot be collected, the ticks since it was asked last, and what the node counted. */
  figures() {
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    const ticks = ticksMs
    ticksMs = []
    return { heldBytes: heapUsed + external, ticksMs: ticks, counters: node?.metrics().counters ?? {} }
  },
}

const identity = newIdentity(crypto)
let received = 0
let awaited = Infinity
let onArrived = () => {}
let node: ReturnType<typeof createNetworkNode> | undefined

export type SparseCalls = typeof calls
answerCalls(calls)
