import { counterHelp } from '@runnel/network'
import type { Random } from '@runnel/protocol'
import { defaultTrackerLimits } from '@runnel/tracker'
import { checkKept } from '../../measures/invariants/kept.ts'
import { AdoptionChecker, checkMembership } from '../../measures/invariants/membership.ts'
import { drawAttack, makeAttacker, type AttackedWorld, type AttackPlan } from './attack-plan.ts'
import type { Attacker } from './attackers/attacker.ts'
import type { FuzzNode } from './fuzz-node.ts'
import { oneOf } from './fuzz-plan.ts'
import { FuzzWorld } from './fuzz-world.ts'
import { Newcomers } from './newcomers.ts'
import { reportOf, watched, type FuzzReport } from './report.ts'

/** The first nodes come within this time, and then the attackers. */
const arrivalMs = 2_000
/** From then on the tracker has to know a node. */
const knownAfterMs = 3_000
const checkEveryMs = 250
const longestPublishPauseMs = 1_000
/** Nodes that publish: each is a cause of its own where limits are shared out. */
const publishers = 3
/** What a node counts when something in it fails that should not, and it goes on. */
const faultCounters = Object.keys(counterHelp).filter((name) => /fault/i.test(name))
const trackerFaults = ['streamPartFaults', 'connectionFaults', 'otherFaults'] as const
/** After the last message. */
const arrivingMs = 6_500

/** A small world of honest nodes, and an attacker that does what its keys allow. It ends at the first breach. */
export async function runAttack(world: AttackedWorld, seed: string, thinFloods = true): Promise<FuzzReport> {
  const draw = (random: Random): AttackPlan => drawAttack(world, random)
  const { fuzz, plan } = await FuzzWorld.create(seed, draw, thinFloods)
  const run = new AttackRun(world, plan, fuzz)
  await watched(fuzz, () => run.run())
  run.stop()
  return reportOf(world, seed, fuzz)
}

class AttackRun {
  readonly #world: AttackedWorld
  readonly #plan: AttackPlan
  readonly #fuzz: FuzzWorld
  readonly #attackers: Attacker[] = []
  readonly #newcomers: Newcomers
  readonly #adoptions: AdoptionChecker
  readonly #cameMs = new Map<FuzzNode, number>()
  #nextCheckMs = 0
  #nextPublishMs = 0

  constructor(world: AttackedWorld, plan: AttackPlan, fuzz: FuzzWorld) {
    this.#world = world
    this.#plan = plan
    this.#fuzz = fuzz
    const { breaches } = fuzz
    const nowMs = (): number => fuzz.nowMs
    this.#newcomers = new Newcomers(fuzz, (id) => this.#come([id]))
    const longestMs = 2 * defaultTrackerLimits.adoptionPatienceMs
    this.#adoptions = new AdoptionChecker({ longestMs }, { breaches, nowMs })
  }

  async run(): Promise<void> {
    const { nodes, attackers, attackMs } = this.#plan
    for (let i = 0; i < nodes; i++) {
      await this.#pass(arrivalMs / nodes)
      await this.#come(this.#fuzz.busyParts)
    }
    await this.#pass(arrivalMs)
    for (const [i, kind] of attackers.entries()) await this.#attack(kind, `attacker ${i}`)
    await this.#pass(attackMs / 2)
    await this.#newcomers.come()
    await this.#pass(attackMs / 2)
    await this.#newcomers.come()
    await this.#pass(arrivingMs)
  }

  stop(): void {
    for (const attacker of this.#attackers) attacker.stop()
  }

  async #come(ids: FuzzWorld['streamParts']): Promise<FuzzNode> {
    const fuzz = this.#fuzz
    fuzz.disturbances++
    const node = await fuzz.addNode()
    this.#cameMs.set(node, fuzz.nowMs)
    node.sim.node.on('tracker', (_, state, error) => {
      if (state === 'disconnected' && fuzz.nodes.has(node.nodeId))
        fuzz.breaches.report('membership', `the tracker let ${node.nodeId} go: ${error?.message}`)
    })
    for (const id of ids) node.join(id)
    return node
  }

  async #attack(kind: string, name: string): Promise<void> {
    const fuzz = this.#fuzz
    const make = makeAttacker(this.#world, kind)
    const attacker = make?.({ name, fuzz, random: fuzz.random.fork(name) })
    if (attacker === undefined) return
    this.#attackers.push(attacker)
    await attacker.start()
  }

  async #pass(durationMs: number): Promise<void> {
    const fuzz = this.#fuzz
    const untilMs = fuzz.nowMs + durationMs
    while (fuzz.breaches.first === undefined && fuzz.nowMs < untilMs) {
      await fuzz.world.advanceTo(Math.min(untilMs, this.#nextCheckMs, this.#nextPublishMs))
      if (fuzz.nowMs >= this.#nextCheckMs) {
        this.#check()
        this.#nextCheckMs = fuzz.nowMs + checkEveryMs
      }
      if (fuzz.nowMs >= this.#nextPublishMs) {
        this.#publish()
        this.#nextPublishMs = fuzz.nowMs + 1 + fuzz.random.next() * longestPublishPauseMs
      }
    }
  }

  #publish(): void {
    const fuzz = this.#fuzz
    const node = oneOf([...fuzz.nodes.values()].slice(0, publishers), fuzz.random)
    const id = oneOf(node?.streamParts ?? [], fuzz.random)
    if (node !== undefined && id !== undefined) fuzz.publish(node, id, 0, 1)
  }

  #check(): void {
    const fuzz = this.#fuzz
    const { breaches, nowMs, world } = fuzz
    fuzz.check()
    for (const node of fuzz.nodes.values()) {
      for (const id of node.streamParts) {
        const kept = node.sim.node.kept(id)
        if (kept !== undefined) checkKept(`${node.nodeId} in ${id}`, kept, this.#plan.limits, breaches)
      }
      const { counters } = node.sim.node.metrics()
      for (const counter of faultCounters)
        if ((counters[counter] ?? 0) > 0) breaches.report('no fault', `${node.nodeId}: ${counter}`)
      const { contact } = node.sim.node
      const isKnown = nowMs > (this.#cameMs.get(node) ?? Infinity) + knownAfterMs
      if (isKnown)
        checkMembership(world.tracker, node.nodeId, { contact, streamParts: node.streamParts }, breaches)
    }
    for (const counter of trackerFaults)
      if (world.tracker.counters.get(counter) > 0) breaches.report('no fault', `tracker: ${counter}`)
    this.#adoptions.check(world.tracker)
    this.#newcomers.check()
  }
}
