import { setTimeout as delay } from 'node:timers/promises'
import { percentile, round } from '../statistics.ts'
import { FailoverNetwork, type FailoverNetworkOptions } from './failover-network.ts'
import type { JoinTimes } from './member-child.ts'
import type { TrackerProcess } from './tracker-process.ts'

export interface FailoverOptions extends FailoverNetworkOptions {
  /** Messages a second in all streams together. */
  readonly ratePerS: number
  /** Nodes that join during each outage of one tracker, in streams that it leads. */
  readonly joins: number
  /** How many trackers are killed in turn, frozen in turn, and restarted in turn. */
  readonly kills: number
  readonly freezes: number
  readonly restarts: number
  /** For how long all trackers are dead; 0 leaves that out. */
  readonly allDeadMs: number
}

/** A join that takes longer has failed. */
const joinLimitMs = 15_000
/** From the beginning of an outage on, one node begins to join after the other, this far apart. */
const joinEveryMs = 500
/** Streams of a tracker that others join meanwhile; their edges and members do not count, as each newcomer is put into some. */
const joinedStreams = 2
/** What the nodes want to change about their edges after all has settled would have changed by then. */
const restMs = 2_000
const thawMs = 10_000
/** How long the last messages may take. */
const deliveryLimitMs = 30_000

/**
 * Trackers end, freeze and come back while nodes publish: which messages are lost, which nodes can still join, and which edges
 * stay.
 */
export async function failoverBench(options: FailoverOptions, say: (text: string) => void = () => {}) {
  say('starting')
  const network = await FailoverNetwork.start(options)
  try {
    await network.publish(options.ratePerS)
    const kills = []
    for (const tracker of busiestFirst(network).slice(0, options.kills)) {
      say(`kill ${tracker.nodeId}`)
      kills.push(await outage(network, tracker, options, 'kill'))
    }
    const rolling = []
    for (const tracker of busiestFirst(network).slice(0, options.restarts)) {
      say(`restart ${tracker.nodeId}`)
      rolling.push(await restart(network, tracker))
    }
    say('all trackers dead')
    const allDead = options.allDeadMs > 0 ? await killAll(network, options.allDeadMs) : undefined
    const freezes = []
    for (const tracker of busiestFirst(network).slice(0, options.freezes)) {
      say(`freeze ${tracker.nodeId}`)
      freezes.push(await outage(network, tracker, options, 'freeze'))
    }
    say('ending')
    const messages = await account(network)
    const { trackers, streams, membersPerStream, ratePerS } = options
    const nodes = options.processes * options.nodesPerProcess
    return {
      bench: 'failover',
      ...{ trackers, nodes, streams, membersPerStream, ratePerS, messages, kills, freezes, rolling, allDead },
    }
  } finally {
    await network.stop()
  }
}

/** One tracker goes, others join the streams it led, and it comes back. */
async function outage(
  network: FailoverNetwork,
  tracker: TrackerProcess,
  { joins }: FailoverOptions,
  how: 'kill' | 'freeze',
) {
  const led = ledBy(network, tracker)
  // One is left, to see when it is taken over.
  const joined = led.slice(0, Math.max(1, Math.min(joinedStreams, led.length - 1)))
  const watched = network.streams.filter((stream) => !joined.includes(stream))
  const kept = await markEdges(network, watched)
  const { times, takenOverMs } = await endAndJoin(network, tracker, { joined, watched, joins, how })
  await network.settled([tracker])
  await delay(restMs)
  const keptByNext = await kept()
  if (how === 'kill') await tracker.start()
  else {
    tracker.thaw()
    // Until it has noticed that its connections are dead, it believes all nodes to be there.
    await delay(thawMs)
  }
  const returnedMs = await network.settled()
  await delay(restMs)
  return {
    streamsLed: led.length,
    joins: joinFigures(times),
    ...{ takenOverMs, keptByNext, returnedMs, keptByFirst: await kept() },
  }
}

/**
 * Ends it, and has others join at once; `takenOverMs` is from its end until the streams that nobody joins are whole at others:
 * null when that takes too long, undefined where it led none of them.
 */
export async function endAndJoin(
  network: Pick<FailoverNetwork, 'settled' | 'join' | 'orderOf'>,
  tracker: TrackerProcess,
  outage: {
    readonly joined: readonly string[]
    readonly watched: readonly string[]
    readonly joins: number
    readonly how: 'kill' | 'freeze'
  },
): Promise<{ readonly times: readonly JoinTimes[]; readonly takenOverMs: number | null | undefined }> {
  const { joined, watched, joins, how } = outage
  const isTakenOver = watched.some((stream) => network.orderOf(stream)[0] === tracker)
  if (how === 'kill') await tracker.kill()
  else tracker.freeze()
  const [times, takenOverMs] = await Promise.all([
    joinAll(network, joined, joins),
    isTakenOver ? network.settled([tracker], watched) : undefined,
  ])
  return { times, takenOverMs }
}

function ledBy(network: FailoverNetwork, tracker: TrackerProcess): string[] {
  return network.streams.filter((stream) => network.orderOf(stream)[0] === tracker)
}

function busiestFirst(network: FailoverNetwork): TrackerProcess[] {
  return network.trackers.toSorted((a, b) => ledBy(network, b).length - ledBy(network, a).length)
}

async function restart(network: FailoverNetwork, tracker: TrackerProcess) {
  const kept = await markEdges(network, network.streams)
  await tracker.stop()
  await tracker.start()
  const returnedMs = await network.settled()
  await delay(restMs)
  return { returnedMs, kept: await kept() }
}

async function killAll(network: FailoverNetwork, forMs: number) {
  const kept = await markEdges(network, network.streams)
  await Promise.all(network.trackers.map((tracker) => tracker.kill()))
  await delay(forMs)
  const keptWithout = await kept()
  await Promise.all(network.trackers.map((tracker) => tracker.start()))
  const returnedMs = await network.settled()
  await delay(restMs)
  return { forMs, keptWithout, returnedMs, kept: await kept() }
}

/** Marks the edges there are; what it returns tells the part of them that never went since. */
async function markEdges(network: FailoverNetwork, streams: readonly string[]) {
  await network.mark()
  const { marked } = await network.edges(streams)
  return async () => round((await network.edges(streams)).marked / marked)
}

/** One after the other begins, evenly over the outage. */
function joinAll(
  network: Pick<FailoverNetwork, 'join'>,
  streams: readonly string[],
  count: number,
): Promise<JoinTimes[]> {
  const join = async (index: number): Promise<JoinTimes> => {
    await delay(index * joinEveryMs)
    return network.join(streams[index % streams.length] ?? '', joinLimitMs)
  }
  return Promise.all(Array.from({ length: streams.length === 0 ? 0 : count }, (_, index) => join(index)))
}

function joinFigures(times: readonly JoinTimes[]) {
  const figures = (all: readonly (number | null)[]) => {
    const known = all.map((ms) => ms ?? Infinity)
    const [p50, p95, max] = [percentile(known, 0.5), percentile(known, 0.95), Math.max(...known)].map(finite)
    return { p50, p95, max }
  }
  return {
    count: times.length,
    failed: times.filter(({ neighbourMs, messageMs }) => neighbourMs === null || messageMs === null).length,
    firstNeighbourMs: figures(times.map(({ neighbourMs }) => neighbourMs)),
    firstMessageMs: figures(times.map(({ messageMs }) => messageMs)),
  }
}

/** JSON has no Infinity. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? Math.round(value) : null
}

/** Publishes no more, waits for what is under way, and counts what everybody was given. */
async function account(network: FailoverNetwork) {
  const { published, refused } = await network.pause()
  const endMs = performance.now() + deliveryLimitMs
  for (;;) {
    const ledger = await network.ledger()
    const isComplete = ledger.every(({ stream, delivered }) => delivered === published.get(stream))
    if (!isComplete && performance.now() < endMs) {
      await delay(500)
      continue
    }
    const sum = (of: (entry: (typeof ledger)[number]) => number) =>
      ledger.reduce((total, entry) => total + of(entry), 0)
    const expected = sum(({ stream }) => published.get(stream) ?? 0)
    const delivered = sum((entry) => entry.delivered)
    return {
      published: [...published.values()].reduce((total, count) => total + count, 0),
      ...{ refused, expected, delivered, lost: expected - delivered },
      outOfOrder: sum((entry) => entry.outOfOrder),
    }
  }
}
