import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StaticNetwork } from '@runnel/client'
import { limits, toStreamId } from '@runnel/protocol'
import type { BrokerConfigInput } from '../../config/schema.ts'
import { startChild, type Child } from '../../up/child.ts'
import { claimDirectory, type UpDirectory } from '../../up/directory.ts'
import { freePort } from '@runnel/transport'
import { gatewayOf } from './own-gateway.ts'
import { ProcessCpu } from './process-cpu.ts'
import type { Target } from './target.ts'

export interface OwnNetworkOptions {
  /** Broker nodes beside the users, each a process in every overlay. */
  readonly nodes: number
  readonly parts: number
  readonly degree: number
  /** Closed to all but one user, in whose name all users act; its messages are encrypted. */
  readonly encrypted: boolean
  readonly storage: boolean
  readonly gateways: boolean
  readonly signal: AbortSignal
  onProgress(text: string): void
}

/**
 * Starts a tracker, broker nodes and a storage node as processes of this machine, which find each other by a document: without a chain, of which
 * messages know nothing, it takes a second. Stops everything again when something fails.
 */
export async function startOwnNetwork(options: OwnNetworkOptions): Promise<Target> {
  const path = mkdtempSync(join(tmpdir(), 'runnel-bench-'))
  const directory = claimDirectory(path)
  const children: Child[] = []
  const died: string[] = []
  const start: Start = async (name, args) => {
    const { signal } = options
    signal.throwIfAborted()
    options.onProgress(`starting ${name}`)
    const child = await startChild({
      ...{ name, args, logFile: directory.logFile(name), signal },
      onDeath: (_, how) => died.push(`${name}: ${how}`),
    })
    children.push(child)
    return child
  }
  let stopping: Promise<void> | undefined
  const stopAll = async () => {
    const [tracker, ...others] = children
    // Side by side: one that hangs is killed after ten seconds, and there may be hundreds.
    await Promise.all(others.map((child) => child.stop()))
    await tracker?.stop()
    directory.release()
    rmSync(path, { recursive: true, force: true })
  }
  const stop = () => (stopping ??= stopAll())
  try {
    const { document, ...rest } = await startAll(directory, options, start)
    const watched = children.map(({ name, pid }) => ({ name, cpu: new ProcessCpu(pid ?? 0) }))
    return {
      ...rest,
      source: { kind: 'static', document },
      costs: () => watched.map(({ name, cpu }) => ({ name, cpuShare: cpu.share() })),
      died: () => died,
      admit: () => Promise.resolve(),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

type Start = (name: string, args: readonly string[]) => Promise<Child>

async function startAll(directory: UpDirectory, options: OwnNetworkOptions, start: Start) {
  const { nodes, degree, encrypted } = options
  const owner = await directory.key('owner')
  const tracker = await directory.key('tracker')
  const storage = { ...(await directory.key('storage')), port: await freePort() }
  const trackerPort = await freePort()
  const { parts, streams } = streamsFor(owner.nodeId, options.parts)
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: `ws://127.0.0.1:${trackerPort}` }],
    streams: streams.map((stream) => ({
      ...stream,
      storageNodes: options.storage
        ? [{ nodeId: storage.nodeId, url: `ws://127.0.0.1:${storage.port}` }]
        : [],
      permissions: [
        { user: owner.nodeId, publish: true, subscribe: true, edit: true, delete: true, grant: true },
        ...(encrypted ? [] : [{ user: 'public' as const, publish: true, subscribe: true }]),
      ],
    })),
  }
  const network = directory.writeJson('network.json', document)
  const files = ['--key', tracker.file, '--network', network]
  await start('tracker', ['tracker', ...files, '--port', `${trackerPort}`, '--degree', `${degree}`])
  const common = { network, logLevel: 'warn', http: { port: 0 } } as const
  const startNode = async (name: string, config: BrokerConfigInput) =>
    start(name, ['node', '--config', directory.writeJson(`nodes/${name.replace(' ', '-')}.json`, config)])
  if (options.storage)
    await startNode('storage', {
      ...{ ...common, key: storage.file, websocket: { port: storage.port } },
      storage: { enabled: true, directory: join(directory.path, 'storage') },
    })
  const gateway = options.gateways ? await gatewayOf(directory, owner.file) : undefined
  for (let number = 1; number <= nodes; number++)
    await startNode(`node ${number}`, {
      ...{ ...common, key: (await directory.key(`node-${number}`)).file, websocket: { port: 0 } },
      ...(encrypted ? { as: owner.file } : {}),
      streams: [`${owner.nodeId}/*`],
      ...(number === 1 ? gateway?.config : {}),
    })
  return {
    document,
    parts,
    user: encrypted ? { privateKey: owner.privateKey } : undefined,
    description: `a network of its own: a tracker, ${nodes} nodes${options.storage ? ', a storage node' : ''}`,
    gateway: gateway?.address,
  }
}

/** Stream parts of as few streams as can have them. */
function streamsFor(owner: string, count: number) {
  const streams = Array.from({ length: Math.ceil(count / limits.maxPartitions) }, (_, index) => ({
    id: toStreamId(`${owner}/bench/${index}`),
    partitions: Math.min(limits.maxPartitions, count - index * limits.maxPartitions),
  }))
  const parts = streams.flatMap(({ id, partitions }) =>
    Array.from({ length: partitions }, (_, partition) => ({ streamId: id, partition })),
  )
  return { streams, parts }
}
