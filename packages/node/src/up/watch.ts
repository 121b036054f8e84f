import { setTimeout as delay } from 'node:timers/promises'
import type { StreamPartId } from '@runnel/protocol'
import { nodeError } from '../errors.ts'
import { measurementKinds } from '../plugins/measurements/readings.ts'
import type { NodeSnapshot, PublishedTotals } from '../snapshot.ts'
import type { LocalNetwork } from './local-network.ts'
import { areDegreesExact, hasEverything, hasStored, onlyPartOf } from './report.ts'

/** How often nodes are asked for their state while something is waited for. */
const askEveryMs = 100

/** Stream parts the measurements go through. */
export function measuredParts({ streams }: LocalNetwork): StreamPartId[] {
  return measurementKinds.map((kind) => onlyPartOf(streams.measurements[kind]))
}

/** How every node that lives is doing, the storage node last. */
export async function snapshotsOf({
  nodes,
  storage,
}: Pick<LocalNetwork, 'nodes' | 'storage'>): Promise<NodeSnapshot[]> {
  const snapshots = await Promise.all([...nodes, storage].map((node) => node.snapshot()))
  return snapshots.filter((snapshot) => snapshot !== undefined)
}

export interface WaitOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Waits until the overlays of all measurement streams are complete. False when they were not in time, or a node died. */
export function waitForOverlays(
  network: LocalNetwork,
  degree: number,
  options: WaitOptions,
): Promise<boolean> {
  const parts = [...measuredParts(network), onlyPartOf(network.streams.lobby)]
  return waitUntil(network, options, (snapshots) => areDegreesExact(snapshots, parts, degree))
}

/** Waits until every subscriber and the storage node have every message. False when some had not in time. */
export function waitForDelivery(
  network: LocalNetwork,
  published: readonly PublishedTotals[],
  options: WaitOptions,
): Promise<boolean> {
  const publisherId = network.nodes[0].ready.nodeId
  return waitUntil(network, options, (snapshots) =>
    snapshots.every((snapshot) => {
      const { storage } = snapshot.plugins
      if (storage !== undefined) return hasStored(storage, published)
      return snapshot.nodeId === publisherId || hasEverything(snapshot, publisherId, published)
    }),
  )
}

async function waitUntil(
  network: LocalNetwork,
  { timeoutMs, signal }: WaitOptions,
  isFulfilled: (snapshots: readonly NodeSnapshot[]) => boolean,
): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs
  while (performance.now() < deadlineMs) {
    if (signal.aborted) throw nodeError('INTERRUPTED')
    const snapshots = await snapshotsOf(network)
    if (snapshots.length <= network.nodes.length) return false
    if (isFulfilled(snapshots)) return true
    await delay(askEveryMs)
  }
  return false
}
