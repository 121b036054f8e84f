import {
  delegationRef,
  encodeDelegation,
  type Delegation,
  type Identity,
  type NodeId,
} from '@runnel/protocol'
import { ChainPublisher, messageNumber } from '../../world/chain-publisher.ts'
import { actingUnder, delegatedSigner, DelegationChecks, delegationTo } from '../../world/delegates.ts'
import { noArchive } from '../../world/no-archive.ts'
import { World, type SimNode } from '../../world/world.ts'

export interface IdentitiesOptions {
  readonly seed: string
  readonly processes: number
  /** `one`: all processes act for one identity, from one network of addresses; `each`: each for its own, from its own. */
  readonly identities: 'one' | 'each'
  /** Processes that publish, each under its delegation. */
  readonly publishers: number
  /** Processes of other identities and networks that come when tables are full. */
  readonly guests: number
  readonly degree: number
}

export interface IdentitiesReport {
  readonly processes: number
  /** Messages at processes: those there should be, those there are, and those that were delivered again. */
  readonly expected: number
  readonly delivered: number
  readonly deliveredAgain: number
  /** Signatures of delegations that nodes checked, and of one delegation by one node at most. */
  readonly checks: number
  readonly mostChecksOfOne: number
  /** Delegations of publishers that all nodes together remember. */
  readonly remembered: number
  readonly guests: GuestReport
}

interface GuestReport {
  /** With a place at the tracker, whose table was full before they came. */
  readonly placed: number
  /** Places that the tracker has, and those taken from the others. */
  readonly places: number
  readonly evicted: number
  /** Messages of guests at all nodes with a place, whose tables of chains the others had filled. */
  readonly expected: number
  readonly delivered: number
  readonly deliveredAgain: number
  /** Chains that these nodes forgot. */
  readonly chainsDropped: number
}

/** Between two that join, between two messages, until all have their neighbours, and after the last message. */
const joinEveryMs = 1
const publishEveryMs = 20
const formingMs = 10_000
const settlingMs = 4_000
const messagesEach = 2
const latencyMs = 20

interface Process extends SimNode {
  readonly user: Identity
  readonly delegation: Delegation
}

/** Many processes with delegations in one stream part of a public network: what do they deliver, check and remember, and what do others get beside them? */
export async function runIdentities(
  options: IdentitiesOptions,
  onProgress: (text: string) => void = () => {},
): Promise<IdentitiesReport> {
  const { processes, publishers, guests } = options
  const scenario = await IdentitiesScenario.create(options, onProgress)
  const members = await scenario.join('process', processes)
  await scenario.publish(members.slice(0, publishers))
  const before = scenario.measure(members, publishers)
  const visitors = await scenario.join('guest', guests)
  await scenario.publish(visitors)
  return { processes, ...before, guests: scenario.measureGuests(members, visitors) }
}

class IdentitiesScenario {
  readonly #options: IdentitiesOptions
  readonly #world: World
  readonly #checks: DelegationChecks
  readonly #delegations: Map<NodeId, Delegation>
  readonly #addresses: Map<NodeId, string>
  /** Messages by process, and how often each came. */
  readonly #arrivals = new Map<NodeId, Map<string, number>>()

  private constructor(options: IdentitiesOptions, world: World, given: Given) {
    this.#options = options
    this.#world = world
    this.#checks = given.checks
    this.#delegations = given.delegations
    this.#addresses = given.addresses
  }

  /** Tables have room for the processes and chains there are without guests. */
  static async create(
    options: IdentitiesOptions,
    onProgress: (text: string) => void,
  ): Promise<IdentitiesScenario> {
    const { processes, identities } = options
    const given: Given = { checks: new DelegationChecks(), delegations: new Map(), addresses: new Map() }
    const world = await World.create({
      ...{ seed: options.seed, degree: options.degree, jitterMs: 0 },
      latencyMs: () => latencyMs,
      lossRate: () => 0,
      onPassing: (second) => onProgress(`${processes} processes, identities ${identities}: second ${second}`),
      nodeLimits: { maxChains: options.publishers },
      trackerLimits: { maxNodes: options.processes },
      addressOf: (nodeId) => given.addresses.get(nodeId),
      actingOf: (nodeId) => {
        const delegation = given.delegations.get(nodeId)
        return delegation && actingUnder(delegation)
      },
      tappedCrypto: (nodeId, crypto) => given.checks.tap(nodeId, crypto),
    })
    return new IdentitiesScenario(options, world, given)
  }

  async join(kind: 'process' | 'guest', count: number): Promise<Process[]> {
    const all: Process[] = []
    if (count === 0) return all
    for (let i = 0; i < count; i++) {
      all.push(await this.#start(kind, i))
      await this.#pass(joinEveryMs)
    }
    await this.#pass(formingMs)
    return all
  }

  /** Each a few messages, in a chain of its own. */
  async publish(members: readonly Process[]): Promise<void> {
    if (members.length === 0) return
    const { clock, crypto, streamPartId } = this.#world
    const chains = members.map(({ name, node, user, delegation }) => {
      const signer = delegatedSigner(this.#world.identity(name), delegation, crypto)
      node.delegations.add(delegation)
      const modules = { clock, crypto, identity: user, signer }
      return { node, publisher: new ChainPublisher({ streamPartId, messageChainId: name }, modules) }
    })
    for (let round = 0; round < messagesEach; round++)
      for (const { node, publisher } of chains) {
        node.publish(publisher.next())
        await this.#pass(publishEveryMs)
      }
    await this.#pass(settlingMs)
  }

  measure(members: readonly Process[], publishers: number): Omit<IdentitiesReport, 'processes' | 'guests'> {
    return {
      expected: publishers * messagesEach * (members.length - 1),
      ...this.#delivered(members, 'process'),
      checks: this.#checks.count,
      mostChecksOfOne: this.#checks.most,
      remembered: this.#remembered(members, members.slice(0, publishers)),
    }
  }

  measureGuests(members: readonly Process[], guests: readonly Process[]): GuestReport {
    const { nodes, counters } = this.#world.tracker
    const placed = [...members, ...guests].filter(({ nodeId }) => nodes.has(nodeId))
    const dropped = placed.map(({ node }) => node.metrics().counters['dedup.chainsDropped'] ?? 0)
    return {
      placed: guests.filter(({ nodeId }) => nodes.has(nodeId)).length,
      places: nodes.size,
      evicted: counters.get('nodesEvicted'),
      expected: guests.length * messagesEach * (placed.length - 1),
      ...this.#delivered(placed, 'guest'),
      chainsDropped: dropped.reduce((sum, count) => sum + count, 0),
    }
  }

  async #start(kind: 'process' | 'guest', i: number): Promise<Process> {
    const { crypto, clock } = this.#world
    const isOne = kind === 'process' && this.#options.identities === 'one'
    const name = `${kind} ${i}`
    const user = this.#world.identity(isOne ? 'the user' : `user of ${name}`)
    const { nodeId } = this.#world.identity(name)
    const delegation = delegationTo(nodeId, user, crypto, clock.now())
    this.#checks.expect(delegation, crypto)
    this.#delegations.set(nodeId, delegation)
    const network = kind === 'guest' ? 200 : 10
    this.#addresses.set(nodeId, isOne ? '192.0.2.1' : `${network}.${i >> 8}.${i & 255}.1`)
    const arrivals = new Map<string, number>()
    this.#arrivals.set(nodeId, arrivals)
    const member = await this.#world.addNode(name, noArchive)
    member.node.on('message', ({ message, from }) => {
      const key = `${message.messageChainId} ${messageNumber(message.content)}`
      if (from !== undefined) arrivals.set(key, (arrivals.get(key) ?? 0) + 1)
    })
    return { ...member, user, delegation }
  }

  #delivered(members: readonly Process[], kind: string): { delivered: number; deliveredAgain: number } {
    let [delivered, deliveredAgain] = [0, 0]
    for (const { nodeId } of members)
      for (const [key, times] of this.#arrivals.get(nodeId) ?? []) {
        if (!key.startsWith(kind)) continue
        delivered++
        deliveredAgain += times - 1
      }
    return { delivered, deliveredAgain }
  }

  #remembered(members: readonly Process[], publishers: readonly Process[]): number {
    const { crypto } = this.#world
    const refs = publishers.map(({ delegation }) => delegationRef(encodeDelegation(delegation), crypto))
    const knownTo = ({ node }: Process): number =>
      refs.filter((ref) => node.delegations.get(ref) !== undefined).length
    return members.reduce((sum, member) => sum + knownTo(member), 0)
  }

  async #pass(durationMs: number): Promise<void> {
    await this.#world.advanceTo(this.#world.clock.monotonicMs() + durationMs)
  }
}

interface Given {
  readonly checks: DelegationChecks
  readonly delegations: Map<NodeId, Delegation>
  readonly addresses: Map<NodeId, string>
}
