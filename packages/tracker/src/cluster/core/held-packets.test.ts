import { toNodeId, toStreamId, toStreamPartId, type Status } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { HeldPackets } from './held-packets.ts'

const streamId = toStreamId(`0x${'a'.repeat(40)}/held`)
const streamPartId = toStreamPartId(streamId, 0)
const node = toNodeId(`0x${'1'.repeat(40)}`)
const other = toNodeId(`0x${'2'.repeat(40)}`)
const status = (counter: number): Status => ({
  type: 'status',
  streamPartId,
  counter,
  neighbours: [],
  failed: [],
})

describe('held packets', () => {
  it('are the last of each kind, node and stream part', () => {
    const held = new HeldPackets()
    held.add(streamId, node, status(1))
    held.add(streamId, node, status(2))
    held.add(streamId, other, status(1))
    held.add(streamId, node, { type: 'leave', streamPartId })
    expect(held.take(streamId)).toEqual([
      { from: node, packet: status(2) },
      { from: other, packet: status(1) },
      { from: node, packet: { type: 'leave', streamPartId } },
    ])
    expect(held.take(streamId)).toEqual([])
  })

  it('are in the order in which the last of each came', () => {
    const held = new HeldPackets()
    held.add(streamId, node, status(1))
    held.add(streamId, node, { type: 'leave', streamPartId })
    held.add(streamId, node, status(2))
    expect(held.take(streamId).map(({ packet }) => packet.type)).toEqual(['leave', 'status'])
  })

  it('are forgotten with their node', () => {
    const held = new HeldPackets()
    held.add(streamId, node, status(1))
    held.add(streamId, other, status(1))
    held.forget(node)
    expect(held.take(streamId)).toEqual([{ from: other, packet: status(1) }])
  })
})
