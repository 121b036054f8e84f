import { keyTagExtension, type MessageBatch } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { neighboursOf, partId, Swarm, TestPublisher, turn, type Member } from '../network.testkit.ts'

const tag = new Uint8Array(16).fill(5)
const extensions = [{ type: keyTagExtension, bytes: tag }]
const textOf = (batch: MessageBatch | undefined) =>
  batch && new TextDecoder().decode(batch.messages.at(-1)?.content)
const never = new AbortController().signal

/** The answer of one neighbour. */
const ask = (swarm: Swarm, { node }: Member, wanted: Uint8Array | undefined = tag) => {
  const [neighbour] = node.neighboursOf(partId)
  if (neighbour === undefined) throw new Error('it has no neighbour')
  return turn(swarm, node.askLatest(neighbour, partId, { tag: wanted, signal: never }))
}

/** A node that joins once all the others are there. */
async function newcomer(swarm: Swarm, options: Parameters<Swarm['make']>[4] = {}) {
  const late = swarm.make('late', {}, undefined, undefined, options)
  await late.node.start()
  late.node.join(partId, { keepsLatest: true })
  swarm.clock.advanceBy(2_000)
  return late
}

describe('the newest message of a key', () => {
  it('is told by neighbours to who was not there, while they keep it; nothing is delivered by that', async () => {
    const swarm = new Swarm()
    const members = await swarm.grow(3)
    for (const { node } of members) node.join(partId, { keepsLatest: true })
    const publisher = new TestPublisher('publisher', swarm.clock)
    for (const value of ['20.5', '21.5']) members[0]?.node.publish(publisher.next(value, 0, extensions))
    swarm.clock.advanceBy(3_600_000)
    const late = await newcomer(swarm)
    expect(neighboursOf(late)).toEqual(late.node.neighboursOf(partId))
    expect(textOf(await ask(swarm, late))).toBe('21.5')
    expect(textOf(await ask(swarm, late, new Uint8Array(16)))).toBeUndefined()
    expect([late.texts(), late.node.latest(partId, tag)]).toEqual([[], undefined])
    expect(members.map(({ node }) => textOf(node.latest(partId, tag)))).toEqual(['21.5', '21.5', '21.5'])
    expect(members[0]?.node.kept(partId)).toMatchObject({ latestKeys: 2 })
  })

  it('is told for half a minute where nobody asks to keep it', async () => {
    const swarm = new Swarm()
    const [first, second] = await swarm.grow(2)
    if (first === undefined || second === undefined) throw new Error('two were made')
    first.node.publish(new TestPublisher('publisher', swarm.clock).next('21.5', 0, extensions))
    swarm.clock.advanceBy(20_000)
    expect(textOf(await ask(swarm, second))).toBe('21.5')
    swarm.clock.advanceBy(20_000)
    expect(await ask(swarm, second)).toBeUndefined()
  })

  it('is not asked of a node that does not know of it', async () => {
    const swarm = new Swarm()
    const [old] = await swarm.grow(1)
    const late = await newcomer(swarm, {
      transports: (modules) => [swarm.network.transport({ role: 'node' }, { ...modules, capabilities: [] })],
    })
    expect(late.node.neighboursOf(partId)).toEqual([old?.node.nodeId])
    expect(await ask(swarm, late)).toBeUndefined()
    expect(old?.node.metrics().counters['latest.answered']).toBe(0)
  })

  it('is not waited for when the link closes, or the asker has enough', async () => {
    const swarm = new Swarm({ latencyMs: 100 })
    const [first, second] = await swarm.grow(2)
    if (first === undefined || second === undefined) throw new Error('two were made')
    const { nodeId } = second.node
    const enough = new AbortController()
    const given = first.node.askLatest(nodeId, partId, { tag, signal: enough.signal })
    enough.abort(new Error('enough'))
    await expect(given).rejects.toThrow('enough')
    const lost = first.node.askLatest(nodeId, partId, { tag, signal: never })
    const stopping = turn(swarm, second.node.stop())
    expect(await turn(swarm, lost)).toBeUndefined()
    await stopping
    expect(first.node.neighboursOf(partId)).toEqual([])
  })
})
