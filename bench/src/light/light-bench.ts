import { fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient, type ClientConfig, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId, toStreamPartId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { beginPhase, showProgress } from '../phase.ts'
import { ChildCalls } from '../child-calls.ts'
import { settled, within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'
import type { HostCalls } from './host-child.ts'

export interface LightBenchOptions {
  /** Of each kind: guests, and full neighbours. */
  readonly peers: number
  /** Of each run, one a batch. */
  readonly messages: number
  /** Runs with each kind, in turns. */
  readonly rounds: number
  /** Guests at once, for what one holds in memory. */
  readonly idle: number
  /** Starts of each kind. */
  readonly starts: number
  readonly limitS: number
}

/** Publishes a message each so many milliseconds: one a packet. */
const everyMs = 2
const quietMs = 10_000

interface Scene {
  readonly streamId: string
  readonly document: StaticNetwork
  readonly host: ChildCalls<HostCalls>
  readonly url: string
  readonly publisher: RunnelClient
}

/**
 * What a guest costs its host, in CPU for each message and in memory, beside a full neighbour; and the time from the start of a light
 * client to its first message, beside that of a member. The host is in a process of its own; all links are WebSockets.
 */
export async function lightBench(options: LightBenchOptions) {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const modules = { identity, crypto, clock: systemClock, random: systemRandom }
  const tracker = createTracker({ listen: { port: 0 } }, modules)
  await tracker.start()
  const streamId = toStreamId(`${tracker.nodeId}/light`)
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [{ id: streamId, permissions: [{ user: 'public', publish: true, subscribe: true }] }],
  }
  const child = fork(fileURLToPath(new URL('host-child.ts', import.meta.url)), {
    execArgv: ['--conditions=runnel-src', '--expose-gc'],
  })
  const host = new ChildCalls<HostCalls>(child)
  const publisher = await newMember(document)
  try {
    const url = await host.call('start', document, streamId)
    await publisher.subscribe(streamId, {}, () => {})
    await publisher.network.waitForNeighbours(toStreamPartId(streamId, 0))
    const scene = { streamId, document, host, url, publisher }
    return {
      bench: 'light',
      ...options,
      ...(await within(options.limitS * 1000, 'measuring', measure(scene, options))),
    }
  } finally {
    await publisher.close()
    await host.call('stop').catch(() => {})
    await host.stop()
    await tracker.stop()
  }
}

async function measure(scene: Scene, { peers, messages, rounds, idle, starts }: LightBenchOptions) {
  const cpu = { none: [] as number[], guests: [] as number[], neighbours: [] as number[] }
  // What is compiled, and what grows once, for the first, is not of one.
  await cpuOf(scene, peers, 'guests', messages)
  beginPhase('memory of guests')
  const memory = await memoryOf(scene, idle)
  for (let round = 0; round < rounds; round++) {
    beginPhase(`CPU, round ${round + 1} of ${rounds}`)
    cpu.none.push(await cpuOf(scene, 0, 'guests', messages))
    cpu.guests.push(await cpuOf(scene, peers, 'guests', messages))
    cpu.neighbours.push(await cpuOf(scene, peers, 'neighbours', messages))
  }
  const noneUs = percentile(cpu.none, 0.5)
  const ofOne = (all: readonly number[]) => round((percentile(all, 0.5) - noneUs) / peers)
  const [guestUs, neighbourUs] = [ofOne(cpu.guests), ofOne(cpu.neighbours)]
  beginPhase('first messages')
  const first = await firstMessages(scene, starts)
  return {
    guest: { cpuUsPerMessage: guestUs, heldKB: memory.guestKB, firstMessageMs: first.light },
    baseline: {
      neighbour: { cpuUsPerMessage: neighbourUs, firstMessageMs: first.member },
      linkAlone: { heldKB: memory.linkKB },
    },
    ratio: {
      cpu: round(guestUs / neighbourUs),
      firstMessage: round(first.light.p50Ms / first.member.p50Ms),
    },
  }
}

/** Microseconds of the host's CPU for each message while it has so many more of one kind. */
async function cpuOf(
  scene: Scene,
  count: number,
  kind: 'guests' | 'neighbours',
  messages: number,
): Promise<number> {
  const { streamId, host, publisher } = scene
  const clients = await Promise.all(
    Array.from({ length: count }, () => (kind === 'guests' ? newGuest(scene) : newMember(scene.document))),
  )
  let received = 0
  for (const client of clients) await client.subscribe(streamId, { order: 'arrival' }, () => void received++)
  await untilHost(scene, kind, kind === 'guests' ? count : count + 1)
  showProgress(() => `${received} of ${count * messages} deliveries to ${count} ${kind}`)
  const before = await host.call('figures')
  for (let n = 0; n < messages; n++) {
    await publisher.publish(streamId, n)
    await pause(everyMs)
  }
  await settled({ isDone: () => received >= count * messages, progress: () => received, quietMs })
  const after = await host.call('figures')
  await Promise.all(clients.map((client) => client.close()))
  await untilHost(scene, kind, kind === 'guests' ? 0 : 1)
  return (after.cpuUs - before.cpuUs) / messages
}

/** Of one among many that are there and silent: what its link holds, and what a guest does with its link. */
async function memoryOf(scene: Scene, count: number): Promise<{ linkKB: number; guestKB: number }> {
  const { host, streamId } = scene
  const beforeBytes = await host.call('heldBytes')
  const clients: RunnelClient[] = []
  for (let n = 0; n < count; n++) clients.push(await newGuest(scene))
  await settled({
    isDone: () => clients.every(({ hosts }) => hosts.length === 1),
    progress: () => clients.filter(({ hosts }) => hosts.length === 1).length,
    quietMs,
  })
  const linkedBytes = await host.call('heldBytes')
  for (const client of clients) await client.subscribe(streamId, {}, () => {})
  await untilHost(scene, 'guests', count)
  const servedBytes = await host.call('heldBytes')
  await Promise.all(clients.map((client) => client.close()))
  await untilHost(scene, 'guests', 0)
  const kB = (bytes: number) => round(bytes / count / 1000)
  return { linkKB: kB(linkedBytes - beforeBytes), guestKB: kB(servedBytes - beforeBytes) }
}

/** Of nodes that start while messages flow: until the first one came. */
async function firstMessages(scene: Scene, starts: number) {
  const { streamId, publisher } = scene
  const flow = { isOver: false }
  const flowing = (async () => {
    for (let n = 0; !flow.isOver; n++) {
      await publisher.publish(streamId, n)
      await pause(everyMs)
    }
  })()
  const timed = async (start: () => Promise<RunnelClient>): Promise<number> => {
    const startMs = performance.now()
    const client = await start()
    const first = Promise.withResolvers<number>()
    await client.subscribe(streamId, {}, () => first.resolve(performance.now() - startMs))
    const tookMs = await first.promise
    await client.close()
    return tookMs
  }
  const [lightMs, memberMs]: [number[], number[]] = [[], []]
  showProgress(() => `${lightMs.length + memberMs.length} of ${2 * starts} nodes`)
  for (let n = 0; n < starts; n++) {
    lightMs.push(await timed(() => newGuest(scene)))
    memberMs.push(await timed(() => newMember(scene.document)))
  }
  flow.isOver = true
  await flowing
  return { light: figures(lightMs), member: figures(memberMs) }
}

async function untilHost({ host }: Scene, kind: 'guests' | 'neighbours', count: number): Promise<void> {
  while ((await host.call('figures'))[kind] !== count) await pause(everyMs)
}

const newMember = (document: StaticNetwork): Promise<RunnelClient> =>
  createClient({
    network: { kind: 'static', document },
    transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false },
  })

function newGuest({ document, url }: Scene): Promise<RunnelClient> {
  const config: ClientConfig = {
    network: { kind: 'static', document: { ...document, trackers: [] } },
    via: [url],
  }
  return createClient(config)
}

const figures = (ms: readonly number[]) => ({
  p50Ms: round(percentile(ms, 0.5)),
  p95Ms: round(percentile(ms, 0.95)),
})
