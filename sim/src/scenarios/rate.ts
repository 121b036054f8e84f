import { urgentFieldsOf, type NodeId } from '@runnel/protocol'
import { CountingArchive } from '../measures/counting-archive.ts'
import { percentile } from '../measures/statistics.ts'
import { ChainPublisher } from '../world/chain-publisher.ts'
import { UrgentPublisher } from '../world/urgent-publisher.ts'
import { World } from '../world/world.ts'
import { Camera, layerOf, picturesPerS, type Layer } from './camera.ts'

export interface RateScenarioOptions {
  readonly seed: string
  readonly latencyMs: number
  /** Whether an ordinary stream of the same node takes what it gets. */
  readonly bulk: boolean
  /**
   * Whether the line is that from a relay: the camera has a better one to that, and one to the reader which carries next to nothing. Then it
   * follows the relay's, and the relay has to shed what is too much for the reader's.
   */
  readonly relayed: boolean
  /** What the line to the reader carries, by second. */
  kbitPerS(second: number): number
  readonly seconds: number
}

/** Of source 002: 1 Mbit/s, and 500 kbit/s from 30 to 60 s. */
export const fallingLine = (second: number): number => (second >= 30 && second < 60 ? 500 : 1000)
/** Of the camera, where there is a relay. */
const lines = { toRelayKbitPerS: 3_000, toReaderKbitPerS: 60 } as const
/** An encoder has an end. */
const maxKbitPerS = 1_500
/** What waits before a line of 1 Mbit/s for 400 ms. */
const queueBytes = 50_000

const formingMs = 20_000
/** Ordinary messages of 100 bytes in one batch, and bytes of them that may wait. */
const bulkMessages = 80
const bulkQueueBytes = 32 * 1024
const settlingMs = 60_000

/** What came in a second, and how. */
interface SecondOfRate {
  readonly lineKbitPerS: number
  /** As the publisher is told at its end. */
  readonly toldKbitPerS: number
  readonly pictureKbitPerS: number
  readonly bulkKbitPerS: number
  /** Beyond the way of the line. */
  readonly waitedP95Ms: number
  readonly lost: number
}

export interface RateReport {
  readonly seconds: readonly SecondOfRate[]
  /** The parts of each layer's pictures that came. */
  readonly arrived: Readonly<Record<Layer, number>>
  /** Pictures that links dropped because they carry less than all layers. */
  readonly shed: number
  /** Whether all of the ordinary stream came at last. */
  readonly bulkIsWhole: boolean
}

/** A camera that follows the rate of its links, to one reader over one line, whose capacity changes. */
export async function runRate(
  options: RateScenarioOptions,
  onProgress: (text: string) => void = () => {},
): Promise<RateReport> {
  const { seed, latencyMs, bulk, relayed, seconds } = options
  const secondOf = (): number => Math.max(0, Math.floor((world.clock.monotonicMs() - formingMs) / 1000))
  const bytesPerMs = (from: NodeId, to: NodeId): number => {
    if (!relayed || from !== camera?.nodeId) return options.kbitPerS(secondOf()) / 8
    return (to === reader?.nodeId ? lines.toReaderKbitPerS : lines.toRelayKbitPerS) / 8
  }
  const underWayBytes = 2 * latencyMs * (options.kbitPerS(0) / 8)
  const world: World = await World.create({
    ...{ seed, degree: 4, jitterMs: 0, latencyMs: () => latencyMs, lossRate: () => 0 },
    line: { bytesPerMs, windowBytes: queueBytes + underWayBytes },
    onPassing: (second) => onProgress(`${latencyMs} ms: second ${second}`),
  })
  const { clock, crypto, streamPartId } = world
  const names = ['camera', 'reader', ...(relayed ? ['relay'] : [])]
  const nodes = await Promise.all(names.map((name) => world.addNode(name, new CountingArchive())))
  const [camera, reader] = nodes
  if (camera === undefined || reader === undefined) throw new Error('both are there')
  await world.advanceTo(formingMs)
  const [ofCamera, ofBulk] = [world.identity('camera of a user'), world.identity('bulk')]
  const pictures = new Camera(new UrgentPublisher({ streamPartId }, { clock, crypto, identity: ofCamera }))
  const ordinary = new ChainPublisher({ streamPartId }, { clock, crypto, identity: ofBulk })

  const came = { base: 0, middle: 0, top: 0 }
  const sent = { base: 0, middle: 0, top: 0 }
  const now = { pictureBytes: 0, bulkBytes: 0, pictures: 0, waitedMs: [] as number[] }
  let bulkCame = 0
  reader.node.on('message', ({ message }) => {
    const fields = urgentFieldsOf(message)
    if (fields === undefined) {
      bulkCame++
      now.bulkBytes += message.content.length
      return
    }
    came[layerOf(fields)]++
    now.pictures++
    now.pictureBytes += message.content.length
    now.waitedMs.push(clock.now() - message.timestamp - latencyMs)
  })
  camera.node.on('message', ({ message }) => {
    const fields = urgentFieldsOf(message)
    if (fields !== undefined) sent[layerOf(fields)]++
  })

  const toldKbitPerS = (): number => camera.node.urgentKbitPerS(streamPartId, ofCamera.nodeId) ?? 0
  const shed = (): number =>
    nodes.reduce((sum, { node }) => sum + (node.metrics().counters['urgent.shed'] ?? 0), 0)
  const report: SecondOfRate[] = []
  for (let second = 0; second < seconds; second++) {
    Object.assign(now, { pictureBytes: 0, bulkBytes: 0, pictures: 0, waitedMs: [] })
    for (let picture = 0; picture < picturesPerS; picture++) {
      await world.advanceTo(formingMs + second * 1000 + (picture * 1000) / picturesPerS)
      camera.node.publish(pictures.next(Math.min(maxKbitPerS, toldKbitPerS())))
      while (bulk && camera.node.queuedBytes(reader.nodeId) < bulkQueueBytes)
        camera.node.publish(ordinary.next(bulkMessages))
    }
    await world.advanceTo(formingMs + (second + 1) * 1000)
    report.push({
      ...{ lineKbitPerS: options.kbitPerS(second), toldKbitPerS: Math.round(toldKbitPerS()) },
      pictureKbitPerS: Math.round((now.pictureBytes * 8) / 1000),
      bulkKbitPerS: Math.round((now.bulkBytes * 8) / 1000),
      waitedP95Ms: Math.round(percentile(now.waitedMs, 0.95) ?? Infinity),
      lost: picturesPerS - now.pictures,
    })
  }
  await world.advanceTo(clock.monotonicMs() + settlingMs)
  const part = (layer: Layer): number => came[layer] / sent[layer]
  return {
    seconds: report,
    arrived: { base: part('base'), middle: part('middle'), top: part('top') },
    shed: shed(),
    bulkIsWhole: bulkCame === ordinary.count,
  }
}
