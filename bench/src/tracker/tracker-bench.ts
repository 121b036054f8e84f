import { fork } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { networkLimits } from '@runnel/network'
import { loadCrypto, seededRandom, toStreamId, toStreamPartId, type StreamPartId } from '@runnel/protocol'
import { benchError } from '../errors.ts'
import type { BareLink } from '../bare/bare-link.ts'
import { dialBareWebSocket } from '../bare/bare-websocket.ts'
import { ChildCalls } from '../child-calls.ts'
import { percentile, round } from '../statistics.ts'
import { LightNode } from './light-node.ts'
import type { ServerCalls, Usage } from './server-child.ts'

export interface TrackerBenchOptions {
  readonly nodes: number
  readonly streams: number
  /** Streams that each node is in. */
  readonly streamsPerNode: number
  /** How long the tracker is watched when all is quiet, and again while nodes come and go. */
  readonly watchMs: number
  /** Nodes that leave a stream and join it again each second meanwhile. */
  readonly rejoinsPerS: number
}

/** A tracker takes only so many handshakes of one address at once. */
const dialsAtOnce = 200
const kilobyte = 1024
/** Between two looks at what is due. */
const stepMs = 10

/**
 * A tracker in a process of its own, and nodes that speak its protocol in this one; the baseline is a bare WebSocket server with
 * as many connections, which get as many pings.
 */
export async function trackerBench(options: TrackerBenchOptions, say: (text: string) => void = () => {}) {
  const { nodes, streams, streamsPerNode, watchMs } = options
  say('bare server')
  const bare = await bareServer(options)
  say('tracker')
  const tracker = await realTracker(options, say)
  return {
    bench: 'tracker',
    ...{ nodes, streams, streamsPerNode, watchMs },
    ...tracker,
    baseline: {
      what: 'a bare WebSocket server with as many connections, which answers as many pings of 8 bytes',
      ...bare,
    },
    ratio: {
      rss: round(tracker.memory.rssKbPerNode / bare.memory.rssKbPerNode),
      quietCpu: round(tracker.quiet.cpuUsPerNodeAndS / bare.quiet.cpuUsPerNodeAndS),
    },
  }
}

async function bareServer({ nodes, watchMs }: TrackerBenchOptions) {
  const server = startServer()
  const links: BareLink[] = []
  let timer: NodeJS.Timeout | undefined
  try {
    const { url } = await server.call('startEcho')
    const before = await server.call('usage')
    const startMs = performance.now()
    await eachAtOnce(nodes, async () => void links.push(await dialBareWebSocket(url)))
    const connectedMs = performance.now() - startMs
    const connected = await server.call('usage')
    timer = pingAll(links)
    const { after, cpuUs } = await watch(server, watchMs)
    return {
      connect: { seconds: round(connectedMs / 1000), cpuUsPerNode: cpuPerNode(before, connected, nodes) },
      memory: memoryOf(before, after, nodes),
      quiet: quietOf(cpuUs, watchMs, nodes),
    }
  } finally {
    clearInterval(timer)
    for (const link of links) link.close()
    await server.stop()
  }
}

/** As the nodes' own pings come: each connection in its turn, all of them within one interval. */
function pingAll(links: readonly BareLink[]): NodeJS.Timeout {
  const ping = Buffer.alloc(8)
  let next = 0
  let lastMs = performance.now()
  return setInterval(() => {
    const nowMs = performance.now()
    const due = Math.round((links.length * (nowMs - lastMs)) / networkLimits.maxTrackerPingIntervalMs)
    lastMs = nowMs
    for (let i = 0; i < due; i++) links[next++ % links.length]?.send(ping)
  }, stepMs)
}

async function realTracker(options: TrackerBenchOptions, say: (text: string) => void) {
  const { nodes, watchMs, rejoinsPerS } = options
  const crypto = await loadCrypto()
  const server = startServer()
  const all = Array.from({ length: nodes }, () => new LightNode(crypto))
  const memberships = placeInStreams(options)
  try {
    const address = await server.call('startTracker', { maxNodes: nodes })
    const before = await server.call('usage')
    say('connecting')
    const connectMs = await timed(() => eachAtOnce(nodes, (i) => all[i]?.connect(address)))
    const connected = await server.call('usage')
    say('joining')
    const joinMs = await timed(() =>
      eachAtOnce(nodes, (i) => Promise.all((memberships[i] ?? []).map(async (part) => all[i]?.join(part)))),
    )
    const joined = await server.call('usage')
    const joins = memberships.reduce((sum, { length }) => sum + length, 0)
    say('quiet')
    const quiet = await watch(server, watchMs)
    say('busy')
    const rejoining = new Rejoining(all, memberships, rejoinsPerS)
    const busy = await watch(server, watchMs).finally(() => rejoining.end())
    const times = await rejoining.timesMs()
    const closed = all.filter((node) => node.closed !== undefined)
    if (closed.length > 0)
      throw benchError('INCOMPLETE', `the tracker closed ${closed.length}: ${closed[0]?.closed}`)
    return {
      connect: {
        seconds: round(connectMs / 1000),
        perS: round(nodes / (connectMs / 1000)),
        cpuUsPerNode: cpuPerNode(before, connected, nodes),
      },
      join: {
        joins,
        seconds: round(joinMs / 1000),
        perS: round(joins / (joinMs / 1000)),
        cpuUsPerJoin: cpuPerNode(connected, joined, joins),
      },
      memory: memoryOf(before, quiet.after, nodes),
      quiet: quietOf(quiet.cpuUs, watchMs, nodes),
      busy: {
        rejoinsPerS: round(times.length / (watchMs / 1000)),
        core: round(busy.cpuUs / 1000 / watchMs),
        answerMs: {
          p50: round(percentile(times, 0.5)),
          p95: round(percentile(times, 0.95)),
          max: round(Math.max(...times)),
        },
      },
    }
  } finally {
    await Promise.all(all.map((node) => node.stop()))
    await server.stop()
  }
}

/** The same number of streams for every node, and about the same number of nodes in every stream. */
function placeInStreams({ nodes, streams, streamsPerNode }: TrackerBenchOptions): StreamPartId[][] {
  const parts = Array.from({ length: streams }, (_, i) =>
    toStreamPartId(toStreamId(`0x${'a'.repeat(40)}/bench/${i}`), 0),
  )
  const random = seededRandom('streams of nodes')
  const offsets = Array.from({ length: streamsPerNode }, () => Math.floor(random.next() * streams))
  return Array.from({ length: nodes }, (_, node) => [
    ...new Set(
      offsets.flatMap((offset, turn) => {
        const at = turn === 0 ? node : Math.floor(node / streams) * 7919 + node * 31 + offset
        return parts[at % streams] ?? []
      }),
    ),
  ])
}

/** Nodes leave a stream and join it again, so many a second, until the end. */
class Rejoining {
  readonly #timesMs: number[] = []
  readonly #pending = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #next = 0

  constructor(nodes: readonly LightNode[], memberships: readonly StreamPartId[][], perS: number) {
    const startMs = performance.now()
    this.#timer = setInterval(() => {
      const due = ((performance.now() - startMs) * perS) / 1000
      while (this.#next < due) {
        const at = (this.#next++ * 7919) % nodes.length
        const [node, part] = [nodes[at], memberships[at]?.[0]]
        if (node === undefined || part === undefined) return
        const once = this.#rejoin(node, part)
        this.#pending.add(once)
        // What failed stays, for the end to throw.
        once.then(
          () => this.#pending.delete(once),
          () => {},
        )
      }
    }, stepMs)
  }

  end(): void {
    clearInterval(this.#timer)
  }

  /** From the status to the first instruction of each, in milliseconds. Rejects as `join` does. */
  async timesMs(): Promise<readonly number[]> {
    await Promise.all(this.#pending)
    return this.#timesMs
  }

  async #rejoin(node: LightNode, part: StreamPartId): Promise<void> {
    node.leave(part)
    this.#timesMs.push(await timed(() => node.join(part)))
  }
}

export function startServer(): ChildCalls<ServerCalls> {
  const first = new URL('heap-of-tracker.ts', import.meta.url)
  return new ChildCalls(
    fork(fileURLToPath(new URL('server-child.ts', import.meta.url)), {
      execArgv: ['--conditions=runnel-src', '--expose-gc', `--import=${first.href}`],
    }),
  )
}

/** What the server uses in this time. */
async function watch(server: ChildCalls<ServerCalls>, ms: number) {
  const before = await server.call('usage')
  await delay(ms)
  const after = await server.call('usage')
  return { after, cpuUs: after.cpuUs - before.cpuAfterUs }
}

function memoryOf(before: Usage, after: Usage, nodes: number) {
  const perNode = (bytes: number) => round(bytes / kilobyte / nodes)
  return {
    rssMb: round(after.rssBytes / kilobyte ** 2),
    rssKbPerNode: perNode(after.rssBytes - before.rssBytes),
    heapKbPerNode: perNode(after.heapBytes - before.heapBytes),
  }
}

function quietOf(cpuUs: number, ms: number, nodes: number) {
  return { core: round(cpuUs / 1000 / ms), cpuUsPerNodeAndS: round(cpuUs / nodes / (ms / 1000)) }
}

function cpuPerNode(before: Usage, after: Usage, count: number): number {
  return round((after.cpuUs - before.cpuAfterUs) / count)
}

/** Runs `work` for each index, a bounded number at once. Begins no more once one has failed. */
async function eachAtOnce(count: number, work: (index: number) => unknown): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  try {
    await Promise.all(Array.from({ length: dialsAtOnce }, worker))
  } finally {
    next = count
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
