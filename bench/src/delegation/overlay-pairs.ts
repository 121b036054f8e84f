import { saturate } from '../flood/saturate.ts'
import { LiveJoins } from '../join/live-joins.ts'
import { Source, Swarm, type SwarmOptions } from '../swarm.ts'
import { pairs, type Pair } from './pairs.ts'

export interface OverlayOptions {
  readonly transport: 'webrtc' | 'websocket'
  readonly nodes: number
}

const swarmOf = (transport: OverlayOptions['transport'], delegated: boolean): Promise<Swarm> =>
  Swarm.start({ transport, verify: true, overlay: 'random', delegated } satisfies SwarmOptions)

export interface Start {
  /** Until all nodes have all their neighbours. */
  readonly startMs: number
  /** From the first `publish` to the last node that has it. */
  readonly firstMessageMs: number
}

/** Starts overlays, each with one message. */
export function startPairs({ transport, nodes }: OverlayOptions, rounds: number): Promise<Pair<Start>[]> {
  return pairs('starts', rounds, async (delegated) => {
    const swarm = await swarmOf(transport, delegated)
    const beginMs = performance.now()
    await swarm.grow(nodes)
    const startMs = performance.now() - beginMs
    await swarm.settle()
    const { firstCopiesMs: firstMessageMs } = await saturate(swarm, new Source(swarm), 1, 1, 0)
    await swarm.stop()
    return { startMs, firstMessageMs }
  })
}

/** Floods two overlays that stay, in turn: CPU of a delivery in microseconds. */
export async function floodPairs(
  { transport, nodes }: OverlayOptions,
  { messages, rounds }: { readonly messages: number; readonly rounds: number },
): Promise<{ readonly batched: Pair<number>[]; readonly unbatched: Pair<number>[] }> {
  const sides = await both(async (delegated) => {
    const swarm = await swarmOf(transport, delegated)
    await swarm.grow(nodes)
    await swarm.settle()
    return { swarm, source: new Source(swarm) }
  })
  const flood = async (delegated: boolean, count: number, perBatch: number): Promise<number> => {
    const { swarm, source } = sides(delegated)
    return (await saturate(swarm, source, count, perBatch)).cpuUsPerDelivery
  }
  const tenth = Math.ceil(messages / 10)
  // The code is compiled for both before either is measured.
  await pairs('warming up floods', 2, (delegated) => flood(delegated, tenth, 64))
  const batched = await pairs('floods', rounds, (delegated) => flood(delegated, messages, 64))
  const unbatched = await pairs('floods, one message a batch', rounds, (delegated) =>
    flood(delegated, tenth, 1),
  )
  for (const delegated of [true, false]) await sides(delegated).swarm.stop()
  return { batched, unbatched }
}

/** Nodes join two live overlays, in turn: milliseconds from the start of a node to its first message. */
export async function joinPairs(
  { transport, nodes }: OverlayOptions,
  joins: number,
): Promise<Pair<number>[]> {
  const sides = await both(async (delegated) => {
    const swarm = await swarmOf(transport, delegated)
    await swarm.grow(nodes)
    return new LiveJoins(swarm)
  })
  const all = await pairs('joins', joins, (delegated) => sides(delegated).join())
  for (const delegated of [true, false]) await sides(delegated).stop()
  return all
}

async function both<Side>(
  make: (delegated: boolean) => Promise<Side>,
): Promise<(delegated: boolean) => Side> {
  const [delegated, own] = [await make(true), await make(false)]
  return (isDelegated) => (isDelegated ? delegated : own)
}
