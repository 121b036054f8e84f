import { setTimeout as delay } from 'node:timers/promises'
import { nodeError } from '../errors.ts'
import { trackerAddresses, type LocalNetwork } from './local-network.ts'
import { areDegreesExact, buildReport, type UpReport } from './report.ts'
import { measuredParts, snapshotsOf, waitForDelivery } from './watch.ts'

/** How long the last messages may take to reach everybody. */
const settleMs = 15_000

export interface MeasuredRunOptions {
  readonly publishForMs: number
  readonly degree: number
  readonly startedInMs: number
  readonly signal: AbortSignal
  /** Processes that died, as it stands when asked. */
  died(): readonly string[]
}

/** Publishes for a while, waits until everybody has everything, and reports. The overlays must be complete. */
export async function measuredRun(network: LocalNetwork, options: MeasuredRunOptions): Promise<UpReport> {
  const { publishForMs, degree, startedInMs, signal, died } = options
  const [publisher] = network.nodes
  const startMs = performance.now()
  publisher.publish()
  // An interrupt ends the publishing early; what was published is reported all the same.
  await delay(publishForMs, undefined, { signal }).catch(() => {})
  const paused = await publisher.pause()
  const publishedForMs = Math.round(performance.now() - startMs)
  const published = paused?.plugins.measurements?.published ?? []
  await waitForDelivery(network, published, { timeoutMs: settleMs, signal: new AbortController().signal })
  const snapshots = await snapshotsOf(network)
  const own = snapshots.find(({ nodeId }) => nodeId === publisher.ready.nodeId) ?? paused
  if (own === undefined) throw nodeError('UP_CHILD_DIED', died().join('; '))
  const streamPartIds = measuredParts(network)
  return buildReport({
    publisher: own,
    subscribers: snapshots.filter((snapshot) => snapshot !== own && snapshot.plugins.storage === undefined),
    storage: snapshots.filter((snapshot) => snapshot.plugins.storage !== undefined),
    degreesExact:
      snapshots.length === network.nodes.length + 1 && areDegreesExact(snapshots, streamPartIds, degree),
    ...{ published, streamPartIds, startedInMs, publishedForMs },
    trackers: trackerAddresses(network),
    died: died(),
  })
}
