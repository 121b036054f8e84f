import { createIdentity, generatePrivateKey, loadCrypto, type NodeId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker, type TrackerLimits } from '@runnel/tracker'
import { answerCalls } from '../child-calls.ts'
import { listenBareWebSocket } from '../bare/bare-websocket.ts'
import { cpuUs } from '../statistics.ts'

/** What a server has used since it was started. */
export interface Usage {
  readonly rssBytes: number
  readonly heapBytes: number
  readonly cpuUs: number
  /** The same after the collection that this reading began with. */
  readonly cpuAfterUs: number
}

let tracker: Tracker | undefined

const calls = {
  async startTracker(
    limits: Partial<TrackerLimits>,
  ): Promise<{ readonly nodeId: NodeId; readonly url: string; readonly httpUrl: string }> {
    const crypto = await loadCrypto()
    const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
    tracker = createTracker(
      { listen: { port: 0 }, limits },
      { identity, crypto, clock: systemClock, random: systemRandom },
    )
    await tracker.start()
    return { nodeId: tracker.nodeId, url: tracker.url, httpUrl: tracker.httpUrl }
  },

  /** What the tracker counts: each metric by its name, without what all begin and end with. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    const lines = (await tracker?.metrics())?.matchAll(/^runnel_tracker_(\w+) (\d+)$/gm) ?? []
    return Object.fromEntries(
      Array.from(lines, ([, name = '', value]) => [name.replace(/_total$/, ''), Number(value)]),
    )
  },

  /** Sends back what it gets. */
  async startEcho(): Promise<{ readonly url: string }> {
    const { url } = await listenBareWebSocket((link) => {
      link.onMessage = (message) => link.send(message)
    })
    return { url }
  },

  /** After a collection, so that what is only garbage does not count. */
  usage(): Usage {
    const used = cpuUs()
    globalThis.gc?.()
    const { rss, heapUsed } = process.memoryUsage()
    return { rssBytes: rss, heapBytes: heapUsed, cpuUs: used, cpuAfterUs: cpuUs() }
  },
}
export type ServerCalls = typeof calls

answerCalls(calls)
