import type { BuiltBatch, NodeId } from '@runnel/protocol'
import { ChainPublisher, messageNumber } from '../world/chain-publisher.ts'
import { noArchive } from '../world/no-archive.ts'
import { World, type SimNode } from '../world/world.ts'

/** How long the scene takes, in milliseconds of virtual time. */
const sceneMs = 20_000
const publishEveryMs = 500

/** Two production nodes and a production tracker, that a third node joins. All publish, and all are neighbours of all. */
export interface Scene {
  readonly world: World
  readonly others: readonly SimNode[]
  /** Numbers of the third node's messages that each of the others was given, in order. */
  readonly heard: readonly number[][]
  /** Who is who, by id. */
  nameOf(nodeId: NodeId): string
  idOf(name: string): NodeId
  /** A batch of the third node's, the next of its chain. */
  nextBatch(): BuiltBatch
  /** Lets the scene run to its end, and calls back when the third node should publish. */
  play(onPublish: () => void): Promise<void>
}

const names = ['tracker', 'first', 'second', 'third']

/** Sets the scene, up to where the third node comes. The same each time. */
export async function setScene(): Promise<Scene> {
  const world = await World.create({
    ...{ seed: 'transcript', degree: 4, jitterMs: 0, overlay: 'random' },
    latencyMs: () => 10,
    lossRate: () => 0,
  })
  const { clock, crypto, streamPartId } = world
  const ids = new Map(names.map((name) => [name, world.identity(name).nodeId]))
  const publisherOf = (name: string) =>
    new ChainPublisher({ streamPartId }, { clock, crypto, identity: world.identity(name) })
  const third = publisherOf('third')
  const others = [await world.addNode('first', noArchive), await world.addNode('second', noArchive)]
  const heard = others.map(({ node }) => {
    const numbers: number[] = []
    node.on('message', ({ message: { publisherId, content } }) => {
      if (publisherId === third.publisherId) numbers.push(messageNumber(content))
    })
    return numbers
  })
  return {
    ...{ world, others, heard },
    nameOf: (nodeId) => [...ids].find(([, id]) => id === nodeId)?.[0] ?? nodeId,
    idOf: (name) => ids.get(name) ?? world.trackerId,
    nextBatch: () => third.next(),
    async play(onPublish) {
      const publishers = others.map(({ name, node }) => ({ node, publisher: publisherOf(name) }))
      for (let atMs = publishEveryMs; atMs < sceneMs; atMs += publishEveryMs) {
        await world.advanceTo(atMs)
        for (const { node, publisher } of publishers) node.publish(publisher.next())
        if (atMs >= sceneMs / 2) onPublish()
      }
      await world.advanceTo(sceneMs)
    },
  }
}
