import { createClient, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { addressOf } from '@runnel/protocol'
import { answerCalls } from '../child-calls.ts'
import { cpuUs } from '../statistics.ts'

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
  /** CPU since the start, bytes that cannot be collected, guests, and the neighbours in its stream. */
  figures() {
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    const metrics = client?.network.metrics()
    const guests = metrics?.counters['guests.open'] ?? 0
    const neighbours = metrics?.streamParts[0]?.neighbours.length ?? 0
    return { cpuUs: cpuUs(), heldBytes: heapUsed + external, guests, neighbours }
  },
  async stop(): Promise<void> {
    await client?.close()
  },
}

export type HostCalls = typeof calls
answerCalls(calls)
