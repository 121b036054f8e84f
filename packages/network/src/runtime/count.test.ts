import type { AskCount } from '@runnel/protocol'
import type { ConnectionModules } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { partId, Swarm, turn } from '../network.testkit.ts'

/** A node that is started and in no stream part, and the tracker that it would ask. */
async function alone(wire: Pick<ConnectionModules, 'capabilities'> = {}) {
  const swarm = new Swarm()
  await swarm.trackerTransport.start()
  const { node } = swarm.make('asker', {}, undefined, undefined, {
    transports: (modules) => [swarm.network.transport({ role: 'node' }, { ...modules, ...wire })],
  })
  await node.start()
  return { swarm, node }
}

describe('how many nodes are in a stream part', () => {
  it('is what its tracker says, asked once the node is in it', async () => {
    const { swarm, node } = await alone()
    const asked: AskCount[] = []
    swarm.tracker.onAskCount = (from, packet) => {
      asked.push(packet)
      swarm.tracker.send(from, { type: 'count', requestId: packet.requestId, readers: 12, feeders: 3 })
    }
    node.join(partId)
    // The join is on its way still.
    expect(await turn(swarm, node.countNodes(partId))).toEqual({ readers: 12, feeders: 3 })
    expect(asked).toMatchObject([{ streamPartId: partId }])
    expect(node.metrics().counters['tracker.refused']).toBe(0)
  })

  it('is asked again where there is no answer, and given up in the end', async () => {
    const { swarm, node } = await alone()
    let left = 2
    swarm.tracker.onAskCount = (from, { requestId }) => {
      if (left-- > 0) swarm.tracker.send(from, { type: 'trackerError', code: 'COUNT_RATE', message: '' })
      else swarm.tracker.send(from, { type: 'count', requestId, readers: 1, feeders: 0 })
    }
    node.join(partId)
    expect(await turn(swarm, node.countNodes(partId))).toEqual({ readers: 1, feeders: 0 })
    swarm.tracker.onAskCount = () => {}
    const lost = expect(node.countNodes(partId)).rejects.toMatchObject({ code: 'TRACKER_LOST' })
    swarm.clock.advanceBy(15_000)
    await lost
  })

  it('is not taken from what was not asked', async () => {
    const { swarm, node } = await alone()
    node.join(partId)
    swarm.clock.advanceBy(1_000)
    swarm.tracker.send(node.nodeId, { type: 'count', requestId: 1, readers: 9, feeders: 9 })
    swarm.clock.advanceBy(1_000)
    expect(node.metrics().counters['tracker.unexpected']).toBe(1)
  })

  it('is for those in it, and ends with its signal, a leave, or the node', async () => {
    const { swarm, node } = await alone()
    await expect(node.countNodes(partId)).rejects.toMatchObject({ code: 'NOT_JOINED' })
    swarm.tracker.onAskCount = () => {}
    node.join(partId)
    const ending = new AbortController()
    const aborted = node.countNodes(partId, ending.signal)
    ending.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await expect(node.countNodes(partId, ending.signal)).rejects.toThrow('enough')
    const left = node.countNodes(partId)
    node.leave(partId)
    await expect(left).rejects.toMatchObject({ code: 'NOT_JOINED' })
    node.join(partId)
    const stopped = node.countNodes(partId)
    await node.stop()
    await expect(stopped).rejects.toMatchObject({ code: 'NODE_NOT_RUNNING' })
  })

  it('is not asked of a tracker of an earlier version', async () => {
    const { swarm, node } = await alone({ capabilities: [] })
    swarm.tracker.onAskCount = () => expect.fail('it was asked')
    node.join(partId)
    await expect(turn(swarm, node.countNodes(partId))).rejects.toMatchObject({ code: 'COUNT_UNAVAILABLE' })
  })
})
