import type { StreamMessage } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { laterFields, type Version } from './later-version.testkit.ts'
import { MixedNetwork, trackerNames, type MixedNode, type MixedTracker } from './mixed-network.testkit.ts'

/** What is counted when somebody does what no correct process does. */
const blames = {
  node: ['peers.misbehaved', 'tracker.refused', 'tracker.silent', 'data.forged', 'fault.connection'],
  tracker: ['malformedStatuses', 'floodsRefused', 'errors', 'slowNodes', 'connectionFaults', 'otherFaults'],
} as const

function expectNoBlame({ node }: MixedNode): void {
  const { counters } = node.metrics()
  for (const name of blames.node) expect([name, counters[name]]).toEqual([name, 0])
}

const textsOf = (messages: readonly StreamMessage[] = []): string[] =>
  messages.map(({ content }) => new TextDecoder().decode(content))

/** A network of 1.0, in which the first node publishes whatever happens. */
class Upgrade {
  readonly trackers: MixedTracker[] = []
  readonly nodes: MixedNode[] = []
  /** How many messages there were in each stream part when a node had come. */
  readonly sentBefore = new Map<MixedNode, number>()
  readonly network: MixedNetwork

  private constructor(network: MixedNetwork) {
    this.network = network
  }

  static async begin(nodes: number): Promise<Upgrade> {
    const upgrade = new Upgrade(await MixedNetwork.create())
    const { network } = upgrade
    for (const name of trackerNames) upgrade.trackers.push(await network.startTracker(name, '1.0'))
    for (let i = 0; i < nodes; i++) upgrade.nodes.push(await network.startNode(`node ${i}`, '1.0'))
    await upgrade.publishFor(5_000)
    return upgrade
  }

  async publishFor(durationMs: number): Promise<void> {
    const [publisher] = this.nodes
    if (publisher !== undefined) await this.network.publishFor(durationMs, publisher)
  }

  /** Another node comes in its place. */
  async replaceNode(old: MixedNode): Promise<void> {
    expectNoBlame(old)
    await this.#away(old.node, 1_000)
    const node = await this.network.startNode(`${old.name}, later`, '1.1')
    await this.publishFor(5_000)
    this.sentBefore.set(node, this.network.sentCount)
  }

  /** The new one has the key of the old one. */
  async replaceTracker(old: MixedTracker, version: Version = '1.1'): Promise<void> {
    await this.#away(old.runtime, 2_000)
    this.trackers.push(await this.network.startTracker(old.name, version))
    // Until it serves its stream part again.
    await this.publishFor(8_000)
  }

  async #away(process: { stop(): Promise<void> }, durationMs: number): Promise<void> {
    const stopped = process.stop()
    await this.publishFor(durationMs)
    await stopped
  }
}

describe('a network of version 1.0 that becomes 1.1 one process after the other', () => {
  it('loses no message and blames nobody, also where its trackers are of another version than its nodes', async () => {
    const upgrade = await Upgrade.begin(8)
    const { network, trackers, nodes, sentBefore } = upgrade
    const [a, b] = trackers as [MixedTracker, MixedTracker]
    const [c, d, ...others] = nodes.slice(3) as [MixedNode, MixedNode, ...MixedNode[]]
    await upgrade.replaceNode(c)
    await upgrade.replaceTracker(a)
    await upgrade.replaceNode(d)
    await upgrade.replaceTracker(b)
    for (const old of others) await upgrade.replaceNode(old)
    await upgrade.publishFor(5_000)

    const staying = nodes.slice(0, 3)
    for (const [part, sent] of network.sent) {
      for (const { messages } of staying) expect(textsOf(messages.get(part))).toEqual(sent)
      for (const [{ messages }, before] of sentBefore)
        expect(textsOf(messages.get(part))).toEqual(expect.arrayContaining(sent.slice(before)))
      for (const { messages } of [...staying, ...sentBefore.keys()])
        for (const message of messages.get(part) ?? []) expect(message).toMatchObject(laterFields)
    }
    for (const node of [...staying, ...sentBefore.keys()]) expectNoBlame(node)
    for (const { core } of trackers)
      for (const name of blames.tracker) expect([name, core.counters.get(name)]).toEqual([name, 0])
    expect(network.refusals).toEqual([])
    for (const { node } of staying) {
      const { counters } = node.metrics()
      expect(Math.min(counters['packets.unknown'] ?? 0, counters['data.unsupported'] ?? 0)).toBeGreaterThan(0)
    }
    for (const { core } of [a, b]) expect(core.counters.get('packetsUnknown')).toBeGreaterThan(0)

    for (const { ends, knowsLater } of network.links)
      expect(knowsLater).toBe(ends.every((end) => end.endsWith('1.1')))
    const kinds = new Set(network.links.map(({ ends }) => ends.join(' to ')))
    // Trackers dial nobody.
    expect(kinds.size).toBe(3 * 2 * 2)
  })

  it.each([
    ['1.1, strict', 'CAPABILITY_MISSING'],
    ['2.0', 'UNSUPPORTED_VERSION'],
  ] as const)('hears why it cannot talk to %s, and goes on with who is left', async (version, code) => {
    const upgrade = await Upgrade.begin(4)
    const { network, trackers, nodes } = upgrade
    const [a, b] = trackers as [MixedTracker, MixedTracker]
    await upgrade.replaceTracker(a, version)
    const later = trackers[2] as MixedTracker
    for (const role of ['node', 'tracker'] as const) {
      expect(await network.dial(role, '1.0', later)).toContain(code)
      expect(await network.dial(role, version, b)).toContain(code)
    }
    for (const node of nodes) {
      expectNoBlame(node)
      for (const [part, sent] of network.sent) expect(textsOf(node.messages.get(part))).toEqual(sent)
      expect(node.node.metrics().counters['tracker.failed']).toBeGreaterThan(0)
    }
    expect(b.core.streamParts.size).toBe(2)
  })
})
