import { setTimeout as pause } from 'node:timers/promises'
import { createClient, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { addressOf } from '@runnel/protocol'
import { answerCalls } from '../child-calls.ts'
import { cpuUs } from '../statistics.ts'

/** Between two collections: what closes, or is sent, needs some turns. */
const settleMs = 200

let client: RunnelClient | undefined

const calls = {
  /** Starts a host that is in the stream. Resolves with its URL. */
  async start(document: StaticNetwork, streamId: string): Promise<string> {
    client = await createClient({
      network: { kind: 'static', document },
      transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false },
      guests: { serve: true },
    })
    await client.subscribe(streamId, { order: 'arrival' }, () => {})
    return addressOf(client.network.contact, 'websocket') ?? ''
  },
  /** Bytes that cannot be collected, once what just happened is over. */
  async heldBytes(): Promise<number> {
    for (let n = 0; n < 3; n++) {
      globalThis.gc?.()
      await pause(settleMs)
    }
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  },
  /** CPU since the start, guests, and the neighbours in its stream. */
  figures() {
    const metrics = client?.network.metrics()
    const guests = metrics?.counters['guests.open'] ?? 0
    const neighbours = metrics?.streamParts[0]?.neighbours.length ?? 0
    return { cpuUs: cpuUs(), guests, neighbours }
  },
  async stop(): Promise<void> {
    await client?.close()
  },
}

export type HostCalls = typeof calls
answerCalls(calls)
