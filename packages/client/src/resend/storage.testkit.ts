import { createNetworkNode, type NetworkNode } from '@runnel/network'
import {
  compareRefs,
  seededRandom,
  toStreamPartId,
  type DirectPacket,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type Resend,
  type StorageAnswer,
  type StreamPartId,
} from '@runnel/protocol'
import { MemoryNetwork, VirtualClock } from '@runnel/transport'
import { openClient, type NodeModules } from '../client.ts'
import type { ClientConfig } from '../config.ts'
import type { StaticNetwork } from '../registry/static-network.ts'
import type { RunnelClient } from '../runnel-client.ts'
import { crypto, identityOf, inOrder, streamId } from './batches.testkit.ts'

/** What a storage node does with a request to resend. */
export type Script = (request: Resend, reply: (answer: StorageAnswer) => void) => void

interface Session {
  readonly requestId: number
  readonly queue: readonly MessageBatch[]
  next: number
  creditBytes: number
}

/** A storage node that speaks the protocol from memory, or whatever a test has it say. */
export class FakeStorage {
  readonly node: NetworkNode
  readonly batches: MessageBatch[] = []
  readonly asked: Resend[] = []
  readonly cancelled: number[] = []
  readonly sentBytes = { total: 0 }
  /** Places it says are stored, or the code it answers with. */
  stored: (
    place: MessageRef & Pick<MessageChain, 'messageChainId'> & { readonly streamPartId: StreamPartId },
  ) => string = () => ''
  /** Answers instead of it. */
  script: Script | undefined
  readonly #sessions = new Map<string, Session>()
  /** Links with requests. */
  readonly #held = new Map<string, () => void>()

  constructor(node: NetworkNode) {
    this.node = node
    node.on('direct', (peerId, packet) => this.#onPacket(peerId, packet))
    node.on('linkClosed', (peerId) => {
      for (const key of this.#sessions.keys()) if (key.startsWith(peerId)) this.#sessions.delete(key)
    })
  }

  add(...batches: readonly MessageBatch[]): void {
    this.batches.push(...batches)
  }

  /** What it has of a request, and where that begins and ends. */
  select({ selection, streamPartId, publisherId, messageChainId }: Resend): {
    readonly batches: MessageBatch[]
    readonly from: MessageRef
    readonly to: MessageRef
    readonly count: number
  } {
    const mine = inOrder(this.batches).filter(
      ({ chain }) =>
        toStreamPartId(chain.streamId, chain.partition) === streamPartId &&
        (publisherId === undefined || chain.publisherId === publisherId) &&
        (messageChainId === undefined || chain.messageChainId === messageChainId),
    )
    const all = mine.flatMap(({ messages }) => messages).toSorted(compareRefs)
    const nowhere = { timestamp: 0, sequenceNumber: 0 }
    const last = selection.kind === 'last' ? all.slice(-selection.count) : []
    const from = selection.kind === 'last' ? (last[0] ?? nowhere) : selection.from
    const to = selection.kind === 'last' ? (last.at(-1) ?? nowhere) : selection.to
    const batches = mine.filter(({ messages }) => {
      const [first, end] = [messages[0], messages.at(-1)]
      return first && end && compareRefs(end, from) >= 0 && compareRefs(first, to) <= 0
    })
    return { batches, from, to, count: last.length }
  }

  #onPacket(peerId: NodeId, packet: DirectPacket): void {
    const reply = (answer: StorageAnswer) => void this.node.sendDirect(peerId, answer)
    const session = this.#sessions.get(`${peerId} ${packet.requestId}`)
    if (packet.type === 'resend') {
      this.asked.push(packet)
      this.#held.set(`${peerId} ${packet.requestId}`, this.node.hold(peerId))
      if (this.script !== undefined) this.script(packet, reply)
      else this.serve(packet, reply, peerId)
    } else if (packet.type === 'resendMore' && session !== undefined) {
      session.creditBytes += packet.bytes
      this.#pump(session, reply)
    } else if (packet.type === 'resendCancel') {
      this.cancelled.push(packet.requestId)
      this.#held.get(`${peerId} ${packet.requestId}`)?.()
      this.#sessions.delete(`${peerId} ${packet.requestId}`)
    } else if (packet.type === 'awaitStored') {
      reply({ type: 'stored', requestId: packet.requestId, code: this.stored(packet), text: '' })
    }
  }

  /** Answers as it should. */
  serve(request: Resend, reply: (answer: StorageAnswer) => void, peerId: NodeId): void {
    const { requestId, windowBytes } = request
    const { batches, ...extent } = this.select(request)
    reply({ type: 'resendStart', requestId, ...extent })
    const session = { requestId, queue: batches, next: 0, creditBytes: windowBytes }
    this.#sessions.set(`${peerId} ${requestId}`, session)
    this.#pump(session, reply)
  }

  #pump(session: Session, reply: (answer: StorageAnswer) => void): void {
    const { requestId, queue } = session
    while (session.creditBytes > 0) {
      const batch = queue[session.next++]
      if (batch === undefined) {
        reply({ type: 'resendEnd', requestId, code: '', text: '' })
        session.creditBytes = 0
        return
      }
      const bytes = batch.bytes.length + 4
      session.creditBytes -= bytes
      this.sentBytes.total += bytes
      reply({ type: 'resendData', requestId, batch })
    }
  }
}

/** Says one thing after the other, with the request's id. */
export const says =
  (...answers: readonly DistributiveOmit<StorageAnswer, 'requestId'>[]): Script =>
  ({ requestId }, reply) => {
    for (const answer of answers) reply({ ...answer, requestId })
  }

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** Clients and storage nodes in memory, under a virtual clock. */
export class StorageNet {
  readonly clock = new VirtualClock()
  readonly network = new MemoryNetwork({ seed: 'storage', latencyMs: 5 }, { clock: this.clock })
  readonly #document: StaticNetwork
  readonly #storageIds: NodeId[]
  readonly #running: { stop(): Promise<unknown> }[] = []
  /** What the client made last gave its node. */
  nodeModules: NodeModules | undefined

  /** The stream `streamId` is kept by storage nodes of these names. */
  constructor(storageNames: readonly string[], options: { partitions?: number } = {}) {
    this.#storageIds = storageNames.map((name) => identityOf(name).nodeId)
    this.#document = {
      version: 1,
      trackers: [],
      streams: [
        {
          id: streamId,
          partitions: options.partitions ?? 1,
          storageNodes: storageNames.map((name) => ({
            nodeId: identityOf(name).nodeId,
            url: `ws://${name}.example`,
          })),
          permissions: [
            { user: identityOf('alice').nodeId, publish: true },
            { user: identityOf('bob').nodeId, publish: true },
            // Might until a second after the beginning of 1970.
            { user: identityOf('erin').nodeId, publish: 1_000 },
            { user: 'public', subscribe: true },
          ],
        },
        { id: `${streamId}/kept-nowhere`, permissions: [{ user: 'public', subscribe: true }] },
      ],
    }
  }

  get storageIds(): readonly NodeId[] {
    return this.#storageIds
  }

  async storage(name: string): Promise<FakeStorage> {
    const node = this.#node(name)
    await node.start()
    this.#running.push(node)
    return new FakeStorage(node)
  }

  /** A client; its node has an id of its own when it gets a name. */
  async client(
    name: string,
    options: { nodeName?: string } & Partial<ClientConfig> = {},
  ): Promise<RunnelClient> {
    const { nodeName, ...config } = options
    const keyOf = (of: string) => Buffer.from(seededRandom(`key of ${of}`).bytes(32)).toString('hex')
    const client = await openClient(
      {
        privateKey: keyOf(name),
        nodePrivateKey: keyOf(nodeName ?? name),
        network: { kind: 'static', document: this.#document },
        ...config,
      },
      {
        clock: this.clock,
        random: seededRandom(name),
        createNode: (_, modules) => {
          this.nodeModules = modules
          return this.#node(nodeName ?? name, modules)
        },
      },
    )
    this.#running.push({ stop: () => client.close() })
    return client
  }

  #node(name: string, modules?: NodeModules): NetworkNode {
    const { clock, network } = this
    return createNetworkNode(
      {},
      {
        crypto,
        clock,
        random: seededRandom(`node ${name}`),
        publisherPolicy: { check: () => 'allowed', resolve: () => Promise.resolve() },
        trackers: { trackersFor: () => [], onChange: () => () => undefined },
        ...modules,
        identity: identityOf(name),
        transports: (wire) => [network.transport({ role: 'node', kind: 'websocket' }, wire)],
      },
    )
  }

  /** Lets virtual time pass, and everything settle in between, until the promise is settled. */
  async turn<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const watched = promise.finally(() => (isSettled = true))
    watched.catch(() => {})
    for (let i = 0; i < 100_000 && !isSettled; i++) {
      await new Promise(setImmediate)
      this.clock.advanceBy(5)
    }
    if (!isSettled) throw new Error('Nothing happened for a very long time')
    return watched
  }

  async stop(): Promise<void> {
    await this.turn(Promise.all(this.#running.splice(0).map((it) => it.stop())))
  }
}

/** All items. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
