import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  type NodeAdmission,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '../create-tracker.ts'
import type { TrackerLogger } from '../logger.ts'
import type { TrackerOptions } from '../options.ts'
import type { StreamSource } from '../runtime/known-streams.ts'
import type { ClusterView } from './cluster-view.ts'
import type { RegisteredTracker, TrackerRegistryView } from './ports.ts'

export const crypto = await loadCrypto()

/** A registry whose content a test decides. */
export class TestRegistry implements TrackerRegistryView {
  trackers: readonly RegisteredTracker[] = []
  readonly own = new Map<StreamId, readonly NodeId[]>()
  readonly #listeners = new Set<() => void>()
  readonly #streamListeners = new Set<(streamId: StreamId | undefined) => void>()
  /** Every stream exists. */
  readonly streams: StreamSource = {
    factsOf: async () => ({ overlay: undefined }),
    onChange: (listener) => {
      this.#streamListeners.add(listener)
      return () => this.#streamListeners.delete(listener)
    },
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  ownTrackers(streamId: StreamId): Promise<readonly NodeId[]> {
    return Promise.resolve(this.own.get(streamId) ?? [])
  }

  /** A stream names other trackers from now on. */
  name(streamId: StreamId, trackers: readonly NodeId[]): void {
    this.own.set(streamId, trackers)
    for (const listener of [...this.#streamListeners]) listener(streamId)
  }

  set(trackers: readonly RegisteredTracker[]): void {
    this.trackers = trackers
    for (const listener of [...this.#listeners]) listener()
  }

  add(...trackers: readonly RegisteredTracker[]): void {
    const ids = new Set(trackers.map(({ nodeId }) => nodeId))
    this.set([...this.trackers.filter(({ nodeId }) => !ids.has(nodeId)), ...trackers])
  }
}

export interface LogLine {
  readonly level: keyof TrackerLogger
  readonly detail: object
  readonly text: string
}

/** Keeps what is logged, and wakes who waits for it. */
class TestLogger implements TrackerLogger {
  readonly lines: LogLine[] = []
  onLine: (line: LogLine) => void = () => {}
  #waiting: (() => void)[] = []

  debug = (detail: object, text: string) => this.#add({ level: 'debug', detail, text })
  info = (detail: object, text: string) => this.#add({ level: 'info', detail, text })
  warn = (detail: object, text: string) => this.#add({ level: 'warn', detail, text })
  error = (detail: object, text: string) => this.#add({ level: 'error', detail, text })

  /** The first line that passes a test, since `from` lines. */
  async line(test: (line: LogLine) => boolean, from = 0): Promise<LogLine> {
    for (;;) {
      const found = this.lines.slice(from).find(test)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #add(line: LogLine): void {
    this.lines.push(line)
    this.onLine(line)
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

/** A tracker in a cluster, with real sockets. */
export interface ClusterTracker {
  readonly tracker: Tracker
  readonly logger: TestLogger
  readonly nodeId: NodeId
  readonly privateKey: Uint8Array
  readonly registered: RegisteredTracker
  readonly options: TrackerOptions
  view(): Promise<ClusterView>
  /** The value of a metric. */
  metric(name: string): Promise<number>
  stop(): Promise<void>
}

/** A fault fails the test: what is thrown here nobody catches. */
const failTest = (error: unknown): void => {
  throw error
}

export async function startClusterTracker(
  registry: TrackerRegistryView & { readonly streams?: StreamSource },
  options: TrackerOptions = {},
  privateKey = generatePrivateKey(systemRandom),
  admission?: NodeAdmission,
  onError: (error: unknown) => void = failTest,
): Promise<ClusterTracker> {
  const logger = new TestLogger()
  const identity = createIdentity(privateKey, crypto)
  const all = {
    // Edges change then only when nodes come and go.
    overlay: 'random' as const,
    ...options,
    listen: { port: 0, ...options.listen },
    cluster: { privateKey, ...options.cluster },
  }
  const system = { clock: systemClock, random: systemRandom }
  const { streams } = registry
  const modules = {
    identity,
    crypto,
    logger,
    registry,
    admission,
    onError,
    ...system,
    ...(streams && { streams }),
  }
  const tracker = createTracker(all, modules)
  await tracker.start()
  const { url, nodeId } = tracker
  return {
    ...{ tracker, logger, nodeId, privateKey, options: all, registered: { nodeId, url } },
    async view() {
      const response = await fetch(`${tracker.httpUrl}/v1/cluster`)
      return (await response.json()) as ClusterView
    },
    async metric(name) {
      const line = (await tracker.metrics())
        .split('\n')
        .find((each) => each.startsWith(`runnel_tracker_${name} `))
      return Number(line?.split(' ')[1])
    },
    stop: () => tracker.stop(),
  }
}

/** Two trackers are linked, as the first sees it. */
export function isLink(to: NodeId): (line: LogLine) => boolean {
  return ({ text, detail }) =>
    text === 'linked to another tracker' && 'tracker' in detail && detail.tracker === to
}
