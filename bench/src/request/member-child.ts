import { createClient, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { toStreamId, toStreamPartId } from '@runnel/protocol'
import { answerCalls } from '../child-calls.ts'
import { oneWay, sharedMs } from './one-way.ts'

let client: RunnelClient | undefined
/** Of messages one way, when each came, by the clock that all processes of a machine share. */
const arrivedMs: number[] = []

const calls = {
  /** Starts a member that is in the stream, and in the part by which replies go. */
  async start(document: StaticNetwork, streamId: string): Promise<void> {
    client = await createClient({
      network: { kind: 'static', document },
      transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false },
    })
    await client.subscribe(streamId, {}, () => {})
    await client.joinStreamPart(streamId, 100)
  },
  async neighbours(streamId: string): Promise<void> {
    for (const partition of [0, 100])
      await client?.network.waitForNeighbours(toStreamPartId(toStreamId(streamId), partition))
  },
  /** Answers requests, and notes when messages one way come. */
  async respond(streamId: string): Promise<void> {
    await client?.respond(streamId, ({ content }) => content)
    await client?.subscribe(streamId, { order: 'arrival' }, ({ content }) => {
      if (content === oneWay) arrivedMs.push(sharedMs())
    })
  },
  arrivals: () => arrivedMs,
  async stop(): Promise<void> {
    await client?.close()
  },
}

export type MemberCalls = typeof calls
answerCalls(calls)
