import { seededRandom, type Random } from '@runnel/protocol'
import { CountingArchive } from '../measures/counting-archive.ts'
import { FloodWatch, type FloodCosts } from '../measures/flood-costs.ts'
import { Subscriber } from '../measures/subscriber.ts'
import { TraceHash } from '../measures/trace-hash.ts'
import { ChainPublisher } from '../world/chain-publisher.ts'
import { evenLatencies } from '../world/latencies.ts'
import { World } from '../world/world.ts'
import { measureLoss, type LossMeasures, type LossMember, type PublishedChain } from './loss-measures.ts'

export interface LossOptions {
  readonly seed: string
  readonly nodes: number
  readonly degree: number
  readonly publishers: number
  /** Messages per second of each publisher. */
  readonly rate: number
  /** Virtual seconds of publishing, losing and killing. */
  readonly seconds: number
  /** The part of frames that vanish on every link between nodes, in the end as in the middle. */
  readonly lossRate: number
  /** A node is killed, and a fresh one joins, each time so many virtual seconds have passed; 0 for never. */
  readonly killEverySeconds: number
  /** False: what flooding does not bring is missed; to compare with. */
  readonly fillGaps: boolean
  /** See `WorldOptions`. */
  readonly thinFloods: boolean
}

export const lossDefaults: Omit<LossOptions, 'seed'> = {
  nodes: 20,
  degree: 4,
  publishers: 3,
  rate: 5,
  seconds: 60,
  lossRate: 0.2,
  killEverySeconds: 4,
  fillGaps: true,
  thinFloods: true,
}

/** One-way latency of a link. */
const latencies = { minMs: 5, maxMs: 45 }
const jitterMs = 3
/** Nodes that find each other before the first message; frames are lost then as well. */
const formingMs = 30_000
/** After the last message, for what is still missing. */
const settlingMs = 60_000

export interface LossReport extends LossMeasures, Omit<FloodCosts, 'copies'> {
  readonly seed: string
  readonly killed: number
  readonly traceHash: string
}

/** Frames are lost at random and nodes die while publishers publish: what do nodes receive that were there all the time? */
export async function runLoss(
  options: LossOptions,
  onProgress: (text: string) => void = () => {},
): Promise<LossReport> {
  const { seed, degree, lossRate, thinFloods } = options
  const latencyMs = evenLatencies(latencies, seededRandom(`latencies of ${seed}`))
  const world = await World.create({
    seed,
    degree,
    latencyMs,
    jitterMs,
    thinFloods,
    lossRate: () => lossRate,
    onPassing: (second) => onProgress(`seed ${seed}: second ${second}`),
  })
  const scenario = new LossScenario(options, world)
  await scenario.form()
  await scenario.publishAndKill()
  return scenario.measure()
}

class LossScenario {
  readonly #options: LossOptions
  readonly #world: World
  readonly #archive = new CountingArchive()
  readonly #trace = new TraceHash()
  /** The living nodes, in the order they came. */
  readonly #members = new Set<LossMember>()
  readonly #chains: PublishedChain[] = []
  readonly #costs: FloodWatch
  #joined = 0
  #killed = 0
  /** The nodes that are there before the first message. */
  #founders: readonly LossMember[] = []

  constructor(options: LossOptions, world: World) {
    this.#options = options
    this.#world = world
    this.#costs = new FloodWatch(world.clock)
  }

  /** The first nodes come and find each other. */
  async form(): Promise<void> {
    const { nodes, publishers } = this.#options
    const { clock, crypto, streamPartId } = this.#world
    for (let i = 0; i < nodes; i++) {
      const member = await this.#join()
      if (i >= publishers) continue
      const identity = this.#world.identity(`publisher ${i}`)
      this.#chains.push({
        member,
        publisher: new ChainPublisher({ streamPartId }, { clock, crypto, identity }),
      })
    }
    this.#founders = [...this.#members]
    for (const { node } of this.#founders) this.#costs.add(node)
    await this.#world.advanceTo(formingMs)
  }

  async publishAndKill(): Promise<void> {
    const { seconds, killEverySeconds } = this.#options
    const untilMs = formingMs + seconds * 1000
    this.#chains.forEach((chain, index) => this.#schedulePublishing(chain, index, untilMs))
    const everyMs = killEverySeconds > 0 ? killEverySeconds * 1000 : Infinity
    const random = this.#world.random('deaths')
    for (let atMs = formingMs + everyMs; atMs < untilMs; atMs += everyMs) {
      await this.#world.advanceTo(atMs)
      this.#killOne(random)
      await this.#join()
    }
    await this.#world.advanceTo(untilMs + settlingMs)
  }

  measure(): LossReport {
    const survivors = this.#founders.filter((member) => this.#members.has(member))
    const members = [...this.#members]
    const measures = measureLoss({ chains: this.#chains, survivors, members, archive: this.#archive })
    const { p50Ms, p99Ms, maxMs } = this.#costs.costs()
    const costs = { p50Ms, p99Ms, maxMs }
    return {
      seed: this.#options.seed,
      ...costs,
      killed: this.#killed,
      ...measures,
      traceHash: this.#trace.digest(),
    }
  }

  async #join(): Promise<LossMember> {
    const name = `node ${this.#joined++}`
    const simNode = await this.#world.addNode(name, this.#archive, { fillGaps: this.#options.fillGaps })
    const { clock, streamPartId } = this.#world
    const subscriber = new Subscriber(
      { streamPartId },
      {
        node: simNode.node,
        nowMs: () => clock.monotonicMs(),
        onDelivered: (publisherId, number) => this.#trace.add(clock.monotonicMs(), name, publisherId, number),
      },
    )
    const member = { ...simNode, subscriber }
    this.#members.add(member)
    return member
  }

  /** Any node but a publisher's, the replacements too; with or without its system closing its sockets. */
  #killOne(random: Random): void {
    const publishing = new Set(this.#chains.map(({ member }) => member))
    const candidates = [...this.#members].filter((member) => !publishing.has(member))
    const victim = candidates[Math.floor(random.next() * candidates.length)]
    if (victim === undefined) return
    this.#members.delete(victim)
    this.#killed++
    this.#world.kill(victim, random.next() < 0.5 ? 'silent' : 'closed')
  }

  /** At a steady rate, each publisher a little after the one before. */
  #schedulePublishing({ member, publisher }: PublishedChain, index: number, untilMs: number): void {
    const { rate, publishers } = this.#options
    const { clock } = this.#world
    const intervalMs = 1000 / rate
    const publish = (): void => {
      if (clock.monotonicMs() >= untilMs) return
      member.node.publish(publisher.next())
      clock.schedule(intervalMs, publish)
    }
    clock.schedule((intervalMs * index) / publishers, publish)
  }
}
