import { fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { ChildCalls } from '../child-calls.ts'
import { round } from '../statistics.ts'
import { newIdentity } from '../swarm.ts'
import type { IdleCalls, IdleTransport, IdleUsage } from './idle-child.ts'

/** Each is a neighbour of all others, in every stream part: four links, however many stream parts there are. */
const nodes = 5
const links = (nodes * (nodes - 1)) / 2

export interface IdleBenchOptions {
  readonly transport: IdleTransport
  /** How many stream parts the nodes of each arm have joined. */
  readonly streamParts: readonly number[]
  /** Before anything is measured: pauses between pings have grown by then, and what follows a join is over. */
  readonly settleS: number
  readonly seconds: number
}

/**
 * What nodes cost while nothing is published: five nodes in a process, for each number of stream parts, beside processes with nothing in them and with
 * as many bare links. All at the same time: together they take a small part of a core. The tracker is in this process, and is not counted.
 */
export async function idleBench(
  { transport, streamParts, settleS, seconds }: IdleBenchOptions,
  tell: (text: string) => void = () => {},
) {
  const identity = newIdentity(await loadCrypto())
  const tracker = createTracker(
    { listen: { host: '127.0.0.1', port: 0 } },
    { identity, crypto: await loadCrypto(), clock: systemClock, random: systemRandom },
  )
  await tracker.start()
  const arms = new Map(
    ['nothing', 'bareLinks', ...streamParts].map((name) => [`${name}`, newChild()] as const),
  )
  try {
    await arms.get('bareLinks')?.call('startBare', transport, links)
    const address = { nodeId: tracker.nodeId, url: tracker.url }
    for (const count of streamParts) {
      tell(`joining ${count} stream parts`)
      await arms.get(`${count}`)?.call('start', transport, { nodes, streamParts: count }, address)
    }
    tell(`settling for ${settleS} s`)
    await each(arms, (child) => child.call('collect'))
    await pause(1_000 * settleS)
    tell(`measuring for ${seconds} s`)
    const before = await each(arms, (child) => child.call('usage'))
    const startMs = performance.now()
    await pause(1_000 * seconds)
    const after = await each(arms, (child) => child.call('usage'))
    const measuredS = (performance.now() - startMs) / 1_000
    const costs = (name: string) => cost(before.get(name), after.get(name), measuredS)
    return {
      ...{ bench: 'idle', transport, nodes, neighbours: nodes - 1, seconds },
      streamParts: Object.fromEntries(streamParts.map((count) => [count, costs(`${count}`)])),
      baseline: { nothing: costs('nothing'), bareLinks: costs('bareLinks') },
    }
  } finally {
    await each(arms, (child) => child.stop())
    await tracker.stop()
  }
}

/** Of one node, or of as many links as it has. */
function cost(before: IdleUsage | undefined, after: IdleUsage | undefined, seconds: number) {
  if (before === undefined || after === undefined) throw new Error('there is no such arm')
  return {
    percentOfCore: round((after.cpuUs - before.cpuUs) / 1e4 / seconds / nodes),
    wakeUpsPerS: round((after.wakeUps - before.wakeUps) / seconds / nodes),
  }
}

function newChild(): ChildCalls<IdleCalls> {
  const file = fileURLToPath(new URL('idle-child.ts', import.meta.url))
  return new ChildCalls(fork(file, { execArgv: ['--conditions=runnel-src', '--expose-gc'] }))
}

async function each<T>(
  arms: ReadonlyMap<string, ChildCalls<IdleCalls>>,
  ask: (child: ChildCalls<IdleCalls>) => Promise<T>,
): Promise<Map<string, T>> {
  return new Map(
    await Promise.all(Array.from(arms, async ([name, child]) => [name, await ask(child)] as const)),
  )
}
