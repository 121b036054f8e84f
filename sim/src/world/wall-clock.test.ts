import type { NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { ChainPublisher, messageNumber } from './chain-publisher.ts'
import { noArchive } from './no-archive.ts'
import { World, type SimNode } from './world.ts'

const hourMs = 3_600_000
const nodeCount = 12

/** A network of production nodes and a production tracker that loses every twentieth frame, and what happens in it. */
class Network {
  /** All that nodes say, each with its time by the monotonic clock. */
  readonly log: string[] = []
  readonly nodes: SimNode[] = []
  readonly world: World

  constructor(world: World) {
    this.world = world
  }

  static async form(): Promise<Network> {
    const options = { seed: 'wall clock', degree: 4, latencyMs: () => 20, jitterMs: 5, lossRate: () => 0.05 }
    const network = new Network(await World.create(options))
    for (let i = 0; i < nodeCount; i++) await network.#join(`node ${i}`)
    await network.pass(20_000)
    return network
  }

  async pass(durationMs: number): Promise<void> {
    await this.world.advanceTo(this.world.clock.monotonicMs() + durationMs)
  }

  /** A publisher that begins now publishes a message every 100 ms. */
  async publish(name: string, messages: number): Promise<void> {
    const { clock, crypto, streamPartId } = this.world
    const identity = this.world.identity(name)
    const publisher = new ChainPublisher({ streamPartId }, { clock, crypto, identity })
    for (let i = 0; i < messages; i++) {
      this.nodes[i % nodeCount]?.node.publish(publisher.next())
      await this.pass(100)
    }
  }

  sum(counter: string): number {
    return this.nodes.reduce((sum, { node }) => sum + (node.metrics().counters[counter] ?? 0), 0)
  }

  /** Messages of a publisher, by node. */
  delivered(name: string): number[] {
    const { nodeId } = this.world.identity(name)
    return this.nodes.map(
      ({ name: node }) => this.log.filter((line) => line.includes(` ${node}: ${nodeId} `)).length,
    )
  }

  async #join(name: string): Promise<void> {
    const member = await this.world.addNode(name, noArchive)
    this.nodes.push(member)
    const { clock } = this.world
    const note = (text: string) => this.log.push(`${clock.monotonicMs()} ${name}: ${text}`)
    member.node.on('message', ({ message, from }) => {
      note(`${message.publisherId} ${messageNumber(message.content)} from ${from ?? 'itself'}`)
    })
    member.node.on('neighbours', (_, neighbours: readonly NodeId[]) =>
      note(`neighbours ${neighbours.join(' ')}`),
    )
    member.node.on('tracker', (trackerId, state) => note(`${state} ${trackerId}`))
    member.node.on('linkClosed', (peerId) => note(`lost ${peerId}`))
    member.node.on('gap', ({ after, upTo }) => note(`gap of ${upTo.timestamp - after.timestamp}`))
    member.node.on('dropped', (counter) => note(`dropped ${counter}`))
  }
}

/**
 * A network whose wall clocks jump at once while a node's lost links and the tracker's lost connections wait to be dialled
 * again. What was published before has come by then: by rule, its timestamps are an hour off afterwards.
 */
async function run(jumpMs: number): Promise<Network> {
  const network = await Network.form()
  const { world, nodes } = network
  await network.publish('before', 100)
  await network.pass(30_000)
  world.stopTracker()
  await network.pass(3_000)
  world.network.breakLinks(nodes[0]?.nodeId as NodeId)
  await network.pass(50)
  world.clock.moveWall(jumpMs)
  await network.publish('after', 100)
  await world.startTracker()
  await network.publish('later', 100)
  await network.pass(60_000)
  return network
}

describe('a running network whose wall clocks jump', () => {
  it('goes on as if nothing had happened, an hour ahead or back', async () => {
    const [still, ahead, back] = [await run(0), await run(hourMs), await run(-hourMs)]
    for (const name of ['before', 'after', 'later'])
      expect(still.delivered(name)).toEqual(Array(nodeCount).fill(100))
    expect(still.sum('links.lost')).toBeGreaterThanOrEqual(8)
    expect(still.sum('gap.opened')).toBeGreaterThan(10)
    expect(still.sum('fetch.sent')).toBeGreaterThan(10)
    expect(still.sum('trackers.open')).toBe(nodeCount)
    expect(ahead.log).toEqual(still.log)
    expect(back.log).toEqual(still.log)
  })
})
