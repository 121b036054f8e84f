import {
  nodeIdFromBytes,
  responsibleTrackers,
  seededRandom,
  toStreamId,
  toStreamPartId,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'

export interface PlacementOptions {
  readonly seed: string
  readonly parts: number
  readonly trackers: number
  /** Trackers responsible for one stream part: the one that leads, and its successors. */
  readonly copies: number
}

/** What the trackers have of something, against an even share. */
interface Load {
  readonly mean: number
  readonly least: number
  readonly most: number
  /** Of the fullest and of the emptiest tracker, the one that is farther from the mean. */
  readonly worstDeviation: number
}

/** What changed when a tracker came or went. */
interface Moves {
  /** An even share, which has to move: that of the tracker that came or went. */
  readonly fair: number
  /** Share of stream parts that another tracker leads, and of the responsibilities that changed hands. */
  readonly led: number
  readonly held: number
  /** Stream parts that moved between two trackers that were there before and after; there should be none. */
  readonly needless: number
}

export interface PlacementReport extends PlacementOptions {
  readonly experiment: 'placement'
  readonly led: Load
  readonly held: Load
  readonly removed: Moves
  readonly added: Moves
}

/** Partitions of a stream: ids that differ in little more than a number, as real ones do. */
const partitionsPerStream = 10

/** Places stream parts on trackers as nodes and trackers do, then takes one tracker away, and adds one. */
export function placement(
  options: PlacementOptions,
  onProgress: (text: string) => void = () => {},
): PlacementReport {
  const random = seededRandom(options.seed)
  const newId = (): NodeId => nodeIdFromBytes(random.bytes(20))
  const trackers = Array.from({ length: options.trackers }, newId)
  const owner = newId()
  const parts = Array.from({ length: options.parts }, (_, i) =>
    toStreamPartId(
      toStreamId(`${owner}/sensors/${Math.floor(i / partitionsPerStream)}`),
      i % partitionsPerStream,
    ),
  )
  const place = (among: readonly NodeId[]): Placement =>
    new Map(
      parts.map((part, index) => {
        onProgress(`${index} of ${parts.length} stream parts among ${among.length} trackers`)
        return [part, responsibleTrackers(part, among, options.copies)]
      }),
    )
  const now = place(trackers)
  const newcomer = newId()
  return {
    experiment: 'placement',
    ...options,
    led: loadOf(trackers, now, (order) => order.slice(0, 1)),
    held: loadOf(trackers, now, (order) => order),
    removed: movesBetween(now, place(trackers.slice(1)), 1 / trackers.length),
    added: movesBetween(now, place([...trackers, newcomer]), 1 / (trackers.length + 1)),
  }
}

type Placement = ReadonlyMap<StreamPartId, readonly NodeId[]>

function loadOf(
  trackers: readonly NodeId[],
  placed: Placement,
  counted: (order: readonly NodeId[]) => readonly NodeId[],
): Load {
  const loads = new Map(trackers.map((id) => [id, 0]))
  for (const order of placed.values())
    for (const id of counted(order)) loads.set(id, (loads.get(id) ?? 0) + 1)
  const values = [...loads.values()]
  const mean = values.reduce((sum, load) => sum + load, 0) / values.length
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return { mean, least, most, worstDeviation: Math.max(most - mean, mean - least) / mean }
}

function movesBetween(before: Placement, after: Placement, fair: number): Moves {
  const [there, stays] = [idsOf(before), idsOf(after)]
  let [led, held, holdings, needless] = [0, 0, 0, 0]
  for (const [part, order] of before) {
    const next = after.get(part) ?? []
    holdings += order.length
    if (next[0] !== order[0]) led++
    const lost = order.filter((id) => !next.includes(id))
    const won = next.filter((id) => !order.includes(id))
    held += Math.max(lost.length, won.length)
    if (lost.some((id) => stays.has(id)) && won.some((id) => there.has(id))) needless++
  }
  return { fair, led: led / before.size, held: held / holdings, needless }
}

function idsOf(placed: Placement): ReadonlySet<NodeId> {
  return new Set([...placed.values()].flat())
}
