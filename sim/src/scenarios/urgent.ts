import { isUrgentChain, type Identity, type NodeId } from '@runnel/protocol'
import { CountingArchive } from '../measures/counting-archive.ts'
import { percentile } from '../measures/statistics.ts'
import { ChainPublisher } from '../world/chain-publisher.ts'
import { UrgentPublisher } from '../world/urgent-publisher.ts'
import { World, type SimNode } from '../world/world.ts'

export interface UrgentScenarioOptions {
  readonly seed: string
  readonly nodes: number
  readonly degree: number
  /** Of each publisher but the flooder. */
  readonly messages: number
  /** The part of frames that vanish, on every link. */
  readonly lossRate: number
  readonly latencyMs: number
}

export const urgentDefaults: Omit<UrgentScenarioOptions, 'seed'> = {
  ...{ nodes: 8, degree: 4, messages: 100, lossRate: 0.03, latencyMs: 25 },
}

/** A voice and an ordinary publisher send so many a second each, and the flooder twenty times as many. */
const rate = 50
const floodFactor = 20
const lifetimeMs = 300
const formingMs = 20_000
const settlingMs = 20_000

export interface UrgentReport {
  /** Parts of the messages that came, over all other nodes. */
  readonly voice: { readonly arrived: number; readonly p95Ms: number; readonly maxMs: number }
  readonly ordinary: { readonly arrived: number }
  readonly flooder: { readonly offered: number; readonly arrived: number }
  /** Gaps in urgent chains that a node noticed. */
  readonly urgentGaps: number
}

/**
 * A voice, a publisher who floods with the first priority and the longest lifetime, and an ordinary stream, in one stream part whose links all
 * lose frames.
 */
export async function runUrgent(options: UrgentScenarioOptions): Promise<UrgentReport> {
  const { seed, nodes, degree, messages, lossRate, latencyMs } = options
  let isLossy = false
  const world = await World.create({
    ...{ seed, degree, jitterMs: 0, latencyMs: () => latencyMs },
    lossRate: () => (isLossy ? lossRate : 0),
  })
  const all: SimNode[] = []
  for (let i = 0; i < nodes; i++) all.push(await world.addNode(`node ${i}`, new CountingArchive()))
  await world.advanceTo(formingMs)
  const { clock, crypto, streamPartId } = world
  const [ofVoice, ofFlooder, ofOrdinary] = ['voice', 'flooder', 'ordinary'].map((name) =>
    world.identity(name),
  )
  const [nodeOfVoice, nodeOfFlooder, nodeOfOrdinary] = all
  if (!ofVoice || !ofFlooder || !ofOrdinary || !nodeOfVoice || !nodeOfFlooder || !nodeOfOrdinary)
    throw new Error('three nodes at least')

  const arrivals = new Map<NodeId, number[]>()
  let urgentGaps = 0
  for (const { node } of all) {
    node.on('message', ({ message, from }) => {
      const { publisherId, timestamp } = message
      if (from !== undefined)
        arrivals.set(publisherId, [...(arrivals.get(publisherId) ?? []), clock.now() - timestamp])
    })
    node.on('gap', ({ chain }) => void (urgentGaps += isUrgentChain(chain) ? 1 : 0))
  }

  const voice = new UrgentPublisher({ streamPartId }, { clock, crypto, identity: ofVoice })
  const flooder = new UrgentPublisher({ streamPartId }, { clock, crypto, identity: ofFlooder })
  const content = new Uint8Array(100)

  isLossy = true
  const ordinary = new ChainPublisher({ streamPartId }, { clock, crypto, identity: ofOrdinary })
  for (let i = 0; i < messages; i++) {
    await world.advanceTo(formingMs + (i * 1000) / rate)
    nodeOfOrdinary.node.publish(ordinary.next())
    for (let n = 0; n < floodFactor; n++)
      nodeOfFlooder.node.publish(flooder.next(content, { priority: 0, lifetimeMs: 60_000 }))
    nodeOfVoice.node.publish(voice.next(content, { priority: 10, lifetimeMs }))
  }
  isLossy = false
  await world.advanceTo(clock.monotonicMs() + settlingMs)

  const delaysOf = ({ nodeId }: Identity): readonly number[] => arrivals.get(nodeId) ?? []
  const shareOf = (identity: Identity): number => delaysOf(identity).length / (messages * (nodes - 1))
  return {
    voice: {
      arrived: shareOf(ofVoice),
      p95Ms: percentile(delaysOf(ofVoice), 0.95) ?? Infinity,
      maxMs: Math.max(...delaysOf(ofVoice)),
    },
    ordinary: { arrived: shareOf(ofOrdinary) },
    flooder: { offered: floodFactor * rate, arrived: shareOf(ofFlooder) / floodFactor },
    urgentGaps,
  }
}
