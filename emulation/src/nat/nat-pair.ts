import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { toStreamPartId, untilAborted, type FailureReason, type StreamId } from '@runnel/protocol'
import type { LinkPath } from '@runnel/transport'
import { ControlClient, type ProcessInfo } from '../control/control-client.ts'
import { RunnelProcess } from '../places/processes/runnel-process.ts'
import type { Place } from './laboratory.ts'
import { firstInLog } from './log-lines.ts'
import { inNamespace } from './namespaces.ts'
import type { Outcome } from './theory.ts'

/** How often it is looked whether the link is there. */
const lookEveryMs = 10
/** How often their logs are read. */
const lookForFailuresEveryMs = 250
/** A pair that has neither opened nor failed after so long has failed: three times what a dial may take. */
export const giveUpAfterMs = 45_000
/** The pair of candidates may change until one is nominated, which libjuice does within two seconds of the first that works. */
const settledAfterMs = 3_000
/** The first node publishes as often as this, so that the first message waits no longer for the second. */
const publishEveryMs = 10

/** What happened until the second node had its first message, in milliseconds. */
export interface PairTimes {
  /** From the start of its process to the start of its client. */
  readonly processMs: number
  /** To having the registry and a tracker. */
  readonly trackerMs: number
  /** From there to the open link: instruction, signalling, ICE, DTLS and handshake. */
  readonly linkMs: number
  /** From the open link to the first message. */
  readonly messageMs: number
}

/** What came of two nodes that were told to connect. */
export interface PairResult {
  readonly outcome: Outcome
  /** As each end sees it, at first and once it stays; of WebRTC. */
  readonly first: readonly (LinkPath | undefined)[]
  readonly paths: readonly (LinkPath | undefined)[]
  readonly times: PairTimes | undefined
  /** Why there was no link, as the ends have it. */
  readonly failures: readonly string[]
  /** What the node told the tracker about it. */
  readonly reported: FailureReason | undefined
}

export interface PairOptions {
  /** For its sockets and logs. */
  readonly directory: string
  readonly networkFile: string
  /** That nodes trust. */
  readonly certificate: string
  readonly streamId: StreamId
  readonly places: readonly [Place, Place]
  /** Whether the first one can be reached by WebSocket. */
  readonly reachable: boolean
  /** What the tracker was told of a link that failed, once it was. */
  reported(): Promise<FailureReason | undefined>
  onProgress(text: string): void
}

/** Starts a node in each of two places, the second when the first is in the overlay, and looks how they come to be linked. */
export async function measurePair(options: PairOptions, signal: AbortSignal): Promise<PairResult> {
  const nodes = options.places.map((place, index) => new PairNode(place, index, options))
  const [first, second] = nodes
  if (!first || !second) throw new RangeError('a pair has two places')
  try {
    await first.start(signal)
    options.onProgress('  the first node runs')
    first.publish()
    const startedMs = performance.now()
    await second.start(signal)
    options.onProgress('  the second node runs')
    return await untilAborted(watch([first, second], options, startedMs, signal), signal)
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
  }
}

async function watch(
  nodes: readonly [PairNode, PairNode],
  options: PairOptions,
  startedMs: number,
  signal: AbortSignal,
): Promise<PairResult> {
  const untilMs = performance.now() + giveUpAfterMs
  let failuresDueMs = 0
  for (;;) {
    const links = await Promise.all(nodes.map((node) => node.link()))
    const nowMs = performance.now()
    if (links.every((link) => link !== undefined)) {
      const first = links.map((link) => link?.path)
      if (first.some((path) => path !== undefined)) await delay(settledAfterMs, undefined, { signal })
      return describe(nodes, first, nowMs - startedMs)
    }
    if (nowMs > failuresDueMs) {
      failuresDueMs = nowMs + lookForFailuresEveryMs
      const failures = await Promise.all(nodes.map((node) => node.failure()))
      const reported = failures.some((code) => code !== undefined) ? await options.reported() : undefined
      if (reported !== undefined || nowMs > untilMs) return failed(failures, reported)
    }
    await delay(lookEveryMs, undefined, { signal })
  }
}

function failed(failures: readonly (string | undefined)[], reported: FailureReason | undefined): PairResult {
  const codes = failures.filter((code) => code !== undefined)
  return { outcome: 'none', first: [], paths: [], times: undefined, failures: codes, reported }
}

async function describe(
  nodes: readonly [PairNode, PairNode],
  first: readonly (LinkPath | undefined)[],
  openedMs: number,
): Promise<PairResult> {
  const links = await Promise.all(nodes.map((node) => node.link()))
  const paths = links.map((link) => link?.path)
  const { phases } = await nodes[1].info()
  return {
    outcome: outcomeOf(
      links.map((link) => link?.transport),
      paths,
    ),
    first,
    paths,
    times: timesOf(phases, openedMs),
    failures: [],
    reported: undefined,
  }
}

/** Through a relay if either end, as either sees it, is one. */
function outcomeOf(
  transports: readonly (string | undefined)[],
  paths: readonly (LinkPath | undefined)[],
): Outcome {
  for (const kind of ['websocket', 'circuit'] as const)
    if (transports.every((transport) => transport === kind)) return kind
  if (transports.some((transport) => transport !== 'webrtc')) return 'none'
  return paths.some(isRelayed) ? 'relayed' : 'direct'
}

export function isRelayed(path: LinkPath | undefined): boolean {
  return path?.local === 'relay' || path?.remote === 'relay'
}

function timesOf(phases: ProcessInfo['phases'], openedMs: number): PairTimes | undefined {
  const { tracker, neighbour, message } = phases ?? {}
  if (tracker === undefined || neighbour === undefined || message === undefined) return undefined
  return {
    processMs: Math.max(0, openedMs - neighbour),
    trackerMs: tracker,
    linkMs: neighbour - tracker,
    messageMs: message - neighbour,
  }
}

/** One `runnel node` of a pair. */
class PairNode {
  readonly #options: PairOptions
  readonly #process: RunnelProcess
  readonly #control: ControlClient
  readonly #logFile: string

  constructor(place: Place, index: number, options: PairOptions) {
    this.#options = options
    const { directory, networkFile, streamId, reachable } = options
    const socket = join(directory, `node-${index}.sock`)
    this.#logFile = join(directory, `node-${index}.log`)
    const listens = index === 0 && reachable
    this.#control = new ControlClient(`unix:${socket}`)
    this.#process = new RunnelProcess({
      name: `node ${index}`,
      args: [
        'node',
        `--network=${networkFile}`,
        `--websocket-listen=${listens}`,
        `--websocket-host=${place.address}`,
        '--http-enabled=false',
        '--control-enabled=true',
        `--control-socket=${socket}`,
        `--observer-streams=${streamId}`,
      ],
      env: { NODE_EXTRA_CA_CERTS: options.certificate },
      logFile: this.#logFile,
      within: (command) => inNamespace(place.namespace, command),
      onDeath: () => {},
    })
  }

  start(signal: AbortSignal): Promise<void> {
    return this.#process.start(signal)
  }

  /** Publishes from now on; not awaited, as the first message waits for a neighbour. */
  publish(): void {
    const streamPartId = toStreamPartId(this.#options.streamId, 0)
    const series = { streamPartId, messages: 100_000, intervalMs: publishEveryMs, bytes: 100 }
    this.#control.publish(series).catch(() => {})
  }

  info(): Promise<ProcessInfo> {
    return this.#control.info()
  }

  async link(): Promise<ProcessInfo['streamParts'][number]['neighbours'][number] | undefined> {
    const { streamParts } = await this.info()
    return streamParts[0]?.neighbours[0]
  }

  /** The code of the first link that failed, from its log. */
  failure(): Promise<string | undefined> {
    return firstInLog(this.#logFile, ({ code, peer }) => (peer === undefined ? undefined : String(code)))
  }

  stop(): Promise<void> {
    return this.#process.stop()
  }
}
