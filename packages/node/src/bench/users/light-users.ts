import { createClient, type RunnelClient, type TransportsConfig } from '@runnel/client'
import { toStreamId, toStreamPartId } from '@runnel/protocol'
import type { DroppedCopies } from '../core/loss.ts'
import type { LinkKind } from '../core/plan.ts'
import type { BenchUser, UserFactory, UserOptions } from './user.ts'

/** Users that are production nodes in this process. */
export function lightUsers(): UserFactory {
  return {
    leavesOut: 'decoding and showing what it reads; many share a process, and with it a core',
    open: openLightUser,
    stop: () => Promise.resolve(),
  }
}

async function openLightUser(options: UserOptions): Promise<BenchUser> {
  const { place, plan, role } = options
  const client = await createClient({
    ...place.user,
    network: place.network,
    thinFloods: plan.floods === 'thin',
    transports: transportsFor(plan.links, role.number, place.host),
    // What is published without neighbours is lost to the measurement; the run begins when all have some.
    waitForNeighboursMs: 1_000,
  })
  try {
    return await join(client, options)
  } catch (error) {
    await client.close()
    throw error
  }
}

async function join(client: RunnelClient, options: UserOptions): Promise<BenchUser> {
  const { plan, part, signal, onMessage, onError } = options
  const streamId = toStreamId(part.streamId)
  const streamPartId = toStreamPartId(streamId, part.partition)
  const { partition } = part
  const deliver = ({ content }: { readonly content: unknown }) => {
    if (content instanceof Uint8Array) onMessage(content)
  }
  const hasUrgent = plan.flows.some(({ urgent }) => urgent)
  // All join: one that neither reads nor publishes is a node of its overlay all the same.
  const leave = plan.subscribes ? undefined : await client.joinStreamPart(streamId, partition)
  if (plan.subscribes)
    await client.subscribe(
      streamId,
      {
        ...{ partitions: [partition], urgent: hasUrgent },
        onGap: () => onError(new Error('messages were given up: a gap')),
        onUndecodable: () => onError(new Error('a message could not be opened')),
      },
      deliver,
    )
  await client.network.waitForNeighbours(streamPartId, { orAlone: true, signal })
  return {
    publish: async (content, urgent) => {
      await client.publish(streamId, content, urgent ? { partition, urgent: true } : { partition })
    },
    dropped: () => droppedIn(client.network.metrics().counters),
    neighbours: () => {
      const found = client.network.metrics().streamParts.find((one) => one.streamPartId === streamPartId)
      return Promise.resolve({ has: found?.neighbours.length ?? 0, wants: found?.wantedNeighbours ?? 0 })
    },
    stop: async () => {
      leave?.()
      await client.close()
    },
  }
}

function droppedIn(counters: Readonly<Record<string, number>>): DroppedCopies {
  const sum = (...names: readonly string[]) => names.reduce((all, name) => all + (counters[name] ?? 0), 0)
  return {
    late: sum('urgent.late', 'urgent.truncated'),
    refused: sum('urgent.refused', 'urgent.overShare', 'urgent.replaced', 'urgent.shed', 'send.refused'),
    unresolved: sum('urgent.unresolved', 'held.unresolved', 'held.refused'),
  }
}

/** With `mixed` every second one can be dialled by WebSocket, and the others link to each other by WebRTC. */
export function transportsFor(links: LinkKind, number: number, host: string): TransportsConfig {
  const listens = links === 'websocket' || (links === 'mixed' && number % 2 === 0)
  return {
    // Trackers are reached by WebSocket in any case.
    websocket: listens ? { listen: { host, port: 0 } } : {},
    webrtc: links === 'websocket' ? false : {},
  }
}
