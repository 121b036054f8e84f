import type { DirectPacket, NodeId, OnVerdict, StorageRequest, VerificationPool } from '@runnel/protocol'
import { toStreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import {
  everybodyMay,
  memoryContact,
  partId,
  streamId,
  Swarm,
  TestPublisher,
  turn,
  type Member,
} from '../network.testkit.ts'

const otherPart = toStreamPartId(streamId, 7)
const cancel: StorageRequest = { type: 'resendCancel', requestId: 9 }

/** Two nodes with nothing in common, and what the second hears. */
async function twoStrangers(swarm: Swarm) {
  await swarm.trackerTransport.start()
  const [first, second] = [swarm.make('first'), swarm.make('second')]
  for (const { node } of [first, second]) await node.start()
  const heard: { from: NodeId; packet: DirectPacket }[] = []
  second.node.on('direct', (from, packet) => heard.push({ from, packet }))
  return { first, second, heard }
}

const peerOf = ({ node }: Member) => ({ nodeId: node.nodeId, contact: node.contact })
const open = ({ node }: Member) => node.metrics().counters['links.open']

describe('a direct link', () => {
  it('carries requests between nodes that are no neighbours, whoever has the lower id, until it is released', async () => {
    const swarm = new Swarm()
    const { first, second, heard } = await twoStrangers(swarm)
    for (const [from, to] of [
      [first, second],
      [second, first],
    ] as const) {
      const link = await turn(swarm, from.node.connect(peerOf(to), { streamPartId: partId }))
      expect(from.node.sendDirect(to.node.nodeId, cancel)).toBe(true)
      swarm.clock.advanceBy(2_000)
      expect([open(first), open(second)]).toEqual([1, 1])
      link.release()
      link.release()
      swarm.clock.advanceBy(60_000)
      expect([open(first), open(second)]).toEqual([0, 0])
    }
    expect(heard).toEqual([{ from: first.node.nodeId, packet: cancel }])
  })

  it('is kept by the one that serves, too', async () => {
    const swarm = new Swarm()
    const { first, second } = await twoStrangers(swarm)
    const link = await turn(swarm, first.node.connect(peerOf(second), { streamPartId: partId }))
    const release = second.node.hold(first.node.nodeId)
    swarm.clock.advanceBy(60_000)
    expect(open(second)).toBe(1)
    release()
    link.release()
  })

  it('to itself, or to a peer that it has banned, is refused and not waited for', async () => {
    const swarm = new Swarm()
    const { first, second } = await twoStrangers(swarm)
    await expect(turn(swarm, first.node.connect(peerOf(first), {}))).rejects.toMatchObject({
      code: 'LINK_FAILED',
    })
    const link = await turn(swarm, first.node.connect(peerOf(second), {}))
    const toTracker = { type: 'askCount', requestId: 1, streamPartId: partId } as unknown as DirectPacket
    second.node.sendDirect(first.node.nodeId, toTracker)
    swarm.clock.advanceBy(1_000)
    expect(open(first)).toBe(0)
    link.release()
    swarm.clock.advanceBy(5_000)
    await expect(turn(swarm, first.node.connect(peerOf(second), {}))).rejects.toMatchObject({
      code: 'LINK_FAILED',
    })
  })

  it('says when it is gone, and why it could not be opened', async () => {
    const swarm = new Swarm()
    const { first, second } = await twoStrangers(swarm)
    const nobody = { nodeId: swarm.make('nobody').node.nodeId, contact: memoryContact }
    const failed: (readonly [NodeId, string])[] = []
    first.node.on('linkFailed', (peerId, { code }) => failed.push([peerId, code]))
    await expect(turn(swarm, first.node.connect(nobody, { streamPartId: partId }))).rejects.toMatchObject({
      code: 'LINK_FAILED',
    })
    expect(failed).toEqual([[nobody.nodeId, 'DIAL_FAILED']])
    const link = await turn(swarm, first.node.connect(peerOf(second), { streamPartId: partId }))
    const closed: NodeId[] = []
    first.node.on('linkClosed', (peerId) => closed.push(peerId))
    await turn(swarm, second.node.stop())
    swarm.clock.advanceBy(20_000)
    expect(closed).toEqual([second.node.nodeId])
    expect(first.node.sendDirect(second.node.nodeId, cancel)).toBe(false)
    link.release()
  })

  it('is opened again where the end of the one before still waits for signatures to be checked', async () => {
    const swarm = new Swarm()
    await swarm.trackerTransport.start()
    const answers: OnVerdict[] = []
    // A thread that has fallen behind, and one beside it that takes its time.
    const verification: VerificationPool = {
      ...{ workersLost: 0, stop: () => undefined },
      verify: (_, __, answer) => answers.push(answer) > 0,
    }
    const verificationBurstMs = -1
    const [first, second, neighbour] = [
      swarm.make('first', { limits: { verificationBurstMs } }, everybodyMay, swarm.clock, { verification }),
      swarm.make('second'),
      swarm.make('neighbour'),
    ]
    for (const { node } of [first, second, neighbour]) await node.start()
    for (const { node } of [first, neighbour]) node.join(partId)
    const before = await turn(swarm, first.node.connect(peerOf(second), {}))
    neighbour.node.publish(new TestPublisher('publisher', swarm.clock).next('not checked yet'))
    swarm.clock.advanceBy(100)
    expect(answers).toHaveLength(1)
    await turn(swarm, second.node.stop())
    const again = swarm.make('second')
    await again.node.start()
    const connecting = first.node.connect(peerOf(again), {})
    answers[0]?.(true)
    const link = await turn(swarm, connecting)
    expect(first.texts()).toEqual(['not checked yet'])
    for (const { release } of [before, link]) release()
  })

  it('can be called off', async () => {
    const swarm = new Swarm()
    const { first } = await twoStrangers(swarm)
    const nobody = { nodeId: swarm.make('nobody').node.nodeId, contact: memoryContact }
    const controller = new AbortController()
    const connecting = first.node.connect(nobody, { streamPartId: partId, signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(turn(swarm, connecting)).rejects.toThrow('enough')
  })
})

describe('storage nodes', () => {
  it('are found through the tracker of a stream part that is not joined, and are told again to a new one', async () => {
    const swarm = new Swarm()
    const { first, second } = await twoStrangers(swarm)
    first.node.join(otherPart)
    first.node.offerStorage(otherPart, true)
    swarm.clock.advanceBy(2_000)
    const found = await turn(swarm, second.node.findStorage(otherPart))
    expect(found).toEqual([peerOf(first)])
    first.node.offerStorage(otherPart, false)
    swarm.clock.advanceBy(2_000)
    expect(await turn(swarm, second.node.findStorage(otherPart))).toEqual([])
    expect(second.node.streamParts).toEqual([])
  })

  it('are told to a tracker that came back', async () => {
    const swarm = new Swarm()
    const { first } = await twoStrangers(swarm)
    first.node.join(otherPart)
    first.node.offerStorage(otherPart, true)
    swarm.clock.advanceBy(2_000)
    swarm.tracker.storing.clear()
    await turn(swarm, swarm.trackerTransport.stop())
    await swarm.trackerTransport.start()
    swarm.clock.advanceBy(60_000)
    expect([...swarm.tracker.storing]).toEqual([first.node.nodeId])
  })

  it('cannot be found without a tracker, which is said in time', async () => {
    const swarm = new Swarm()
    const { node } = swarm.make('lonely')
    await node.start()
    const finding = node.findStorage(otherPart)
    swarm.clock.advanceBy(20_000)
    await expect(finding).rejects.toMatchObject({ code: 'TRACKER_LOST' })
    await expect(node.findStorage(otherPart, AbortSignal.abort(new Error('no')))).rejects.toThrow('no')
  })
})
