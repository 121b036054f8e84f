import { createClient, type ClientConfig, type RunnelClient } from '@runnel/client'
import { parseStreamPartId, toStreamPartId, toStreamId, type NodeId } from '@runnel/protocol'
import { answerCalls } from '../child-calls.ts'
import { MemberLedger } from './member-ledger.ts'

/** Members of the network in this process, each with a node of its own. */
export interface MemberOptions {
  readonly networkFile: string
  /** Whether others can dial it by WebSocket; WebRTC it has in any case. */
  readonly listens: boolean
  /** Streams it takes. */
  readonly streams: readonly string[]
}

export interface JoinTimes {
  /** From the start of the node to its first neighbour, and to its first message; null when that did not come. */
  readonly neighbourMs: number | null
  readonly messageMs: number | null
}

interface Member {
  readonly client: RunnelClient
  readonly ledgers: Map<string, MemberLedger>
  /** Edges that existed at the last mark and were never lost since. */
  readonly marked: Map<string, Set<NodeId>>
}

const members: Member[] = []
const published = new Map<string, number>()
let refused = 0
let timers: NodeJS.Timeout[] = []

const calls = {
  async start(all: readonly MemberOptions[]): Promise<void> {
    members.push(...(await Promise.all(all.map(startMember))))
  },

  /** Edges of each stream that each member has: both ends tell of each. */
  degrees(): { readonly stream: string; readonly degree: number }[] {
    return members.flatMap((member) =>
      [...edgesOf(member)].map(([stream, peers]) => ({ stream, degree: peers.size })),
    )
  },

  mark(): void {
    for (const member of members) {
      member.marked.clear()
      for (const [stream, peers] of edgesOf(member)) member.marked.set(stream, new Set(peers))
    }
  },

  /** Ends of edges in these streams: the marked ones never lost since, and the current ones. */
  edges(streams: readonly string[]): { readonly marked: number; readonly there: number } {
    let [marked, there] = [0, 0]
    for (const member of members) {
      const edges = edgesOf(member)
      for (const stream of streams) {
        marked += member.marked.get(stream)?.size ?? 0
        there += edges.get(stream)?.size ?? 0
      }
    }
    return { marked, there }
  },

  /** Has members publish to streams, until `pause`; what they give themselves does not count. */
  publish(tasks: readonly { readonly member: number; readonly stream: string }[], intervalMs: number): void {
    for (const { member, stream } of tasks) {
      const publisher = members[member]
      if (publisher === undefined) throw new Error(`there is no member ${member}`)
      publisher.ledgers.delete(stream)
      timers.push(setInterval(() => publishNext(publisher.client, stream), intervalMs))
    }
  },

  pause(): { readonly published: readonly (readonly [string, number])[]; readonly refused: number } {
    for (const timer of timers) clearInterval(timer)
    timers = []
    return { published: [...published], refused }
  },

  ledger(): {
    readonly stream: string
    readonly delivered: number
    readonly missing: number
    readonly outOfOrder: number
    readonly last: number
  }[] {
    return members.flatMap(({ ledgers }) =>
      [...ledgers].map(([stream, { delivered, missing, outOfOrder, last }]) => ({
        ...{ stream, delivered, missing, outOfOrder, last },
      })),
    )
  },

  /** Somebody new joins a stream and leaves it again. */
  async join({ networkFile, listens, streams }: MemberOptions, limitMs: number): Promise<JoinTimes> {
    const [stream = ''] = streams
    const startMs = performance.now()
    const limit = AbortSignal.timeout(limitMs)
    const first = Promise.withResolvers<number | null>()
    limit.addEventListener('abort', () => first.resolve(null))
    const client = await createClient(configOf(networkFile, listens))
    try {
      await client.subscribe(stream, {}, () => first.resolve(performance.now() - startMs))
      const neighbourMs = await client.network
        .waitForNeighbours(toStreamPartId(toStreamId(stream), 0), { signal: limit })
        .then(
          () => performance.now() - startMs,
          () => null,
        )
      return { neighbourMs, messageMs: await first.promise }
    } finally {
      await client.close()
    }
  },

  async stop(): Promise<void> {
    await Promise.all(members.map(({ client }) => client.close()))
  },
}
export type MemberCalls = typeof calls

async function startMember({ networkFile, listens, streams }: MemberOptions): Promise<Member> {
  const client = await createClient(configOf(networkFile, listens))
  const member: Member = { client, ledgers: new Map(), marked: new Map() }
  client.network.on('neighbours', (streamPartId, neighbours) => {
    const marked = member.marked.get(parseStreamPartId(streamPartId).streamId)
    for (const peer of marked ?? []) if (!neighbours.includes(peer)) marked?.delete(peer)
  })
  for (const stream of streams) {
    const ledger = new MemberLedger()
    member.ledgers.set(stream, ledger)
    await client.subscribe(stream, {}, ({ content }) => ledger.add(Number(content)))
  }
  return member
}

function configOf(networkFile: string, listens: boolean): ClientConfig {
  return {
    network: { kind: 'static', file: networkFile },
    transports: {
      websocket: listens ? { listen: { host: '127.0.0.1', port: 0 } } : {},
      webrtc: { bindAddress: '127.0.0.1' },
    },
  }
}

function edgesOf({ client }: Member): Map<string, Set<NodeId>> {
  return new Map(
    client.network
      .metrics()
      .streamParts.map(({ streamPartId, neighbours }) => [
        parseStreamPartId(streamPartId).streamId,
        new Set(neighbours.map(({ nodeId }) => nodeId)),
      ]),
  )
}

function publishNext(client: RunnelClient, stream: string): void {
  const number = (published.get(stream) ?? 0) + 1
  published.set(stream, number)
  client.publish(stream, number).catch(() => refused++)
}

answerCalls(calls)
