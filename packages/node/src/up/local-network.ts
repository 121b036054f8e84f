import { join } from 'node:path'
import type { Anvil } from '@runnel/contracts/anvil'
import type { NodeId } from '@runnel/protocol'
import type { LogLevel } from '../config/log-levels.ts'
import type { BrokerConfigInput } from '../config/schema.ts'
import { nodeError } from '../errors.ts'
import { measurementKinds } from '../plugins/measurements/readings.ts'
import { startChild, type Child } from './child.ts'
import type { UpDirectory } from './directory.ts'
import {
  newestBlock,
  openChain,
  portOf,
  portsFor,
  readKept,
  writeKept,
  type KeptNetwork,
} from './kept-network.ts'
import { localStreams, type LocalStreams } from './local-streams.ts'
import { deployAsOwner, setUpRegistries, setUpStorage } from './registry-setup.ts'
import { storeCards } from './store-cards.ts'

export interface LocalNetworkOptions {
  /** Broker nodes, at least 2. The first publishes. */
  readonly nodes: number
  readonly trackers: number
  readonly degree: number
  /**
   * Share of the nodes, from 0 to 1, that others can reach by WebSocket; the rest dial those, and use WebRTC among themselves.
   */
  readonly websocketShare: number
  /** Time between two messages of a measurement stream. */
  readonly intervalMs: number
  /** A private network: only its own nodes, its user and nodes listed later may take part. */
  readonly permissioned: boolean
  /** Of the processes started. */
  readonly logLevel: LogLevel
  /** Ports of the chain and of the first tracker; 0 takes those of the last start, or free ones. */
  readonly chainPort: number
  readonly trackerPort: number
  /** Calls the start off. */
  readonly signal: AbortSignal
  onProgress(text: string): void
  onDeath(child: Child, how: string): void
}

/** A network of processes on this machine. */
export interface LocalNetwork {
  readonly chain: Anvil
  readonly trackers: readonly Child[]
  /** The first one publishes. */
  readonly nodes: readonly [Child, ...Child[]]
  /** Keeps every stream of the network. */
  readonly storage: Child
  readonly streams: LocalStreams
  /** Only listed nodes may take part. */
  readonly permissioned: boolean
  /** A key for the user, and the owner's. */
  readonly keyFiles: { readonly user: string; readonly owner: string }
  stop(): Promise<void>
}

/** What a local network keeps between one start and the next. */
const storageRetention = { maxAgeDays: 7, maxBytes: 256 * 1024 * 1024 }

/** Starting more at once than the machine has processors for only slows each down. */
const startsAtOnce = 4

/**
 * Starts a chain, and trackers and nodes that find each other through its registries. Stops everything again when something
 * fails.
 */
export async function startLocalNetwork(
  directory: UpDirectory,
  options: LocalNetworkOptions,
): Promise<LocalNetwork> {
  const started: Stoppable[][] = []
  const keep: Keep = (rank, it) => {
    ;(started[rank] ??= []).push(it)
    return it
  }
  const stop = async () => {
    for (const group of started.toReversed()) await Promise.all(group?.map((it) => it.stop()) ?? [])
  }
  try {
    return { ...(await startAll(directory, options, keep)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Stoppable {
  stop(): Promise<void>
}

/** The order of stopping, highest first: each may still need the lower ones. */
const rank = { chain: 0, trackers: 1, nodes: 2 } as const

type Keep = <T extends Stoppable>(rank: number, it: T) => T

async function startAll(directory: UpDirectory, options: LocalNetworkOptions, keep: Keep) {
  const { signal, onProgress, permissioned } = options
  const owner = await directory.key('owner')
  const user = await directory.key('user')
  const publisher = await directory.key('node-1')
  const storageKey = await directory.key('storage-1')
  const streams = localStreams(owner.nodeId)
  const others = [user.nodeId, storageKey.nodeId]
  const members = permissioned ? await memberIds(directory, options, [owner.nodeId, ...others]) : undefined

  onProgress('starting the chain')
  const last = readKept(directory, permissioned)
  const ports = await portsFor(options, last?.ports)
  const { chain, kept, isAsKept } = await openChain(directory, last, { port: ports.chain, signal })
  keep(rank.chain, chain)
  throwIfAborted(signal)
  const accounts = { owner, others, permissioned }
  const deployment = kept?.chain ?? (await deployAsOwner(chain.url, chain.privateKeys[0] ?? '', accounts))
  const { registries } = deployment
  const place = { rpcUrl: chain.url, registries, ownerKey: owner.privateKey }
  directory.writeJson('network.json', { version: 1, chain: { rpcUrl: chain.url, ...deployment } })
  throwIfAborted(signal)

  onProgress('starting the trackers')
  const trackers = await startTrackers(directory, options, ports.trackers, keep)
  throwIfAborted(signal)
  const listed = trackers.map(({ ready }) => ({ nodeId: ready.nodeId, url: ready.url ?? '' }))
  const isListed =
    isAsKept && kept !== undefined && isSame(kept.registered.trackers, listed) && hasAll(kept, members)
  if (!isListed) {
    onProgress('registering trackers and streams')
    const users = { publisher: publisher.nodeId, user: user.nodeId }
    await setUpRegistries(place, { trackers: listed, members }, streams, users)
  }

  onProgress(`starting ${options.nodes} nodes and a storage node`)
  const startAndAssign = async () => {
    const child = await startStorage(directory, options, { key: storageKey.file, port: ports.storage }, keep)
    const url = child.ready.url ?? ''
    if (isListed && kept?.registered.storageUrl === url) return child
    await setUpStorage(place, { ...storageKey, url }, streams)
    await storeCards(
      { kind: 'chain', rpcUrl: chain.url, registries },
      [owner.privateKey, user.privateKey],
      onProgress,
    )
    return child
  }
  const [storage, nodes] = await bothOrNone(startAndAssign(), startNodes(directory, options, streams, keep))
  const [first, ...rest] = nodes
  if (!first) throw nodeError('INTERNAL', 'no nodes')
  writeKept(directory, {
    chain: deployment,
    block: await newestBlock(chain.url),
    ports: {
      chain: portOf(chain.url),
      trackers: listed.map(({ url }) => portOf(url)),
      storage: portOf(storage.ready.url ?? ''),
    },
    registered: { trackers: listed, storageUrl: storage.ready.url ?? '', members },
  })
  const keyFiles = { user: user.file, owner: owner.file }
  return { chain, trackers, nodes: [first, ...rest] as const, storage, streams, keyFiles, permissioned }
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Whether all members were listed already; those who were listed for a larger network may stay. */
function hasAll({ registered }: KeptNetwork, members: readonly NodeId[] = []): boolean {
  return members.every((member) => registered.members?.includes(member))
}

/** The nodes that may take part in a private network. */
async function memberIds(
  directory: UpDirectory,
  { nodes }: LocalNetworkOptions,
  others: readonly NodeId[],
): Promise<NodeId[]> {
  const ids = [...others]
  for (let index = 1; index <= nodes; index++) ids.push((await directory.key(`node-${index}`)).nodeId)
  return ids
}

function startTrackers(
  directory: UpDirectory,
  options: LocalNetworkOptions,
  ports: readonly number[],
  keep: Keep,
): Promise<Child[]> {
  return forEachAtOnce(ports.length, async (index) =>
    keep(rank.trackers, await startTracker(directory, options, index, ports[index] ?? 0)),
  )
}

/** Starts one of the trackers, or starts it again; `port` 0 takes a free one. Throws UP_START_FAILED. */
export async function startTracker(
  directory: UpDirectory,
  { degree, logLevel, onDeath }: Pick<LocalNetworkOptions, 'degree' | 'logLevel' | 'onDeath'>,
  index: number,
  port: number,
): Promise<Child> {
  const name = `tracker ${index + 1}`
  const { file } = await directory.key(`tracker-${index + 1}`)
  const args = [
    'tracker',
    '--key',
    file,
    '--network',
    directory.networkFile,
    // Everything is on this machine, and so is whoever can read it.
    '--explorer-network',
    directory.networkFile,
    '--port',
    `${port}`,
    '--degree',
    `${degree}`,
    '--log-level',
    logLevel,
  ]
  return startChild({ name, args, logFile: directory.logFile(name), onDeath })
}

function startNodes(
  directory: UpDirectory,
  options: LocalNetworkOptions,
  streams: LocalStreams,
  keep: Keep,
): Promise<Child[]> {
  let running = 0
  return forEachAtOnce(options.nodes, async (index) => {
    throwIfAborted(options.signal)
    const name = `node ${index + 1}`
    const { file } = await directory.key(`node-${index + 1}`)
    const config = nodeConfig(index, file, directory.networkFile, options, streams)
    const args = ['node', '--config', directory.writeJson(`nodes/node-${index + 1}.json`, config)]
    const { onDeath } = options
    const child = keep(
      rank.nodes,
      await startChild({ name, args, logFile: directory.logFile(name), onDeath }),
    )
    options.onProgress(`${++running} of ${options.nodes} nodes are running`)
    return child
  })
}

/** A node that keeps what flows; of its own, so that a busy store never delays a measurement. */
async function startStorage(
  directory: UpDirectory,
  { logLevel, onDeath }: LocalNetworkOptions,
  { key, port }: { readonly key: string; readonly port: number },
  keep: Keep,
): Promise<Child> {
  const name = 'storage 1'
  const config: BrokerConfigInput = {
    ...{ network: directory.networkFile, key, logLevel },
    websocket: { port },
    http: { port: 0 },
    storage: { enabled: true, directory: join(directory.path, 'storage'), retention: storageRetention },
  }
  const args = ['node', '--config', directory.writeJson('nodes/storage-1.json', config)]
  return keep(rank.nodes, await startChild({ name, args, logFile: directory.logFile(name), onDeath }))
}

/** Configuration of one node: every second one, or what the share says, has a WebSocket server. */
function nodeConfig(
  index: number,
  key: string,
  network: string,
  { websocketShare, intervalMs, logLevel }: LocalNetworkOptions,
  streams: LocalStreams,
): BrokerConfigInput {
  const isReachable = Math.floor((index + 1) * websocketShare) > Math.floor(index * websocketShare)
  const isPublisher = index === 0
  const watched = [...measurementKinds.map((kind) => streams.measurements[kind]), streams.lobby]
  return {
    ...{ network, key, logLevel },
    websocket: { listen: isReachable, port: 0 },
    http: { port: 0 },
    measurements: { enabled: isPublisher, autoStart: false, intervalMs, streams: streams.measurements },
    observer: { streams: watched },
  }
}

/** Runs `start` for each index, a few at once, and gives the results in order. After a failure no more are started. */
async function forEachAtOnce<T>(count: number, start: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  let failed = false
  const work = async () => {
    while (next < count && !failed) {
      const index = next++
      try {
        results[index] = await start(index)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: startsAtOnce }, work))
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  return results
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw nodeError('INTERRUPTED')
}

/** When one fails, it still waits for the other: what that has started must be known before it can be stopped. */
async function bothOrNone<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b])
  return Promise.all([a, b])
}

/** Ids and addresses of the trackers. */
export function trackerAddresses({ trackers }: LocalNetwork): { id: NodeId; url: string }[] {
  return trackers.map(({ ready }) => ({ id: ready.nodeId, url: ready.url ?? '' }))
}
