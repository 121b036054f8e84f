import { createClient, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { answerCalls } from '../child-calls.ts'
import { packed } from '../bare/bare-link.ts'
import { listenBareWebSocket } from '../bare/bare-websocket.ts'

let received = 0
let awaited = Infinity
let onArrived = () => {}
let client: RunnelClient | undefined

/** Each message is one number larger than the one before: nothing is lost, doubled or out of order. */
function take(text: string): void {
  if (Number.parseInt(text, 10) !== received) throw new Error(`${text} came after ${received} messages`)
  received++
  if (received === awaited) onArrived()
}

const calls = {
  /** Subscribes; resolves when that is done. */
  async subscribe(document: StaticNetwork, streamId: string): Promise<void> {
    const transports = { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } as const
    client = await createClient({ network: { kind: 'static', document }, transports })
    await client.subscribe<string>(streamId, {}, ({ content }) => take(content))
  },
  /** Listens for a link without anything of Runnel on it. Resolves to its URL. */
  async listenBare(): Promise<string> {
    received = 0
    const { url } = await listenBareWebSocket((link) => {
      const bare = packed(link)
      bare.onMessage = (message) => take(Buffer.from(message).toString())
    })
    return url
  },
  /** Resolves when so many messages have come, from the first one on. */
  arrived(count: number): Promise<void> {
    awaited = count
    return received >= count ? Promise.resolve() : new Promise((resolve) => (onArrived = resolve))
  },
}

export type PublishCalls = typeof calls
answerCalls(calls)
