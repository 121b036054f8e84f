import type { MessageBatch } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import {
  attach,
  batchAt,
  control,
  CoreScript,
  data,
  forged,
  opened,
  partId,
  startMs,
  type BatchOptions,
} from '../core.testkit.ts'

const at = (offsetMs: number) => ({ timestamp: startMs + offsetMs, sequenceNumber: 0 })
const batchOf = (content: number, offsets: readonly number[] = [0], options: BatchOptions = {}) =>
  batchAt(
    offsets.map((offset) => startMs + offset),
    { ...options, content: [content] },
  )
/** Two messages for one place, of which the first counts. */
const [low, high] = [batchOf(1), batchOf(2)]

const idle = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('heads'))

describe('two signed messages for one place', () => {
  it('are told of with both, and the one that counts goes on, once', () => {
    const script = new CoreScript().withNeighbours(2, 3, 4)
    script.run(data(2, high))
    expect(script.run(data(3, low))).toEqual(['equivocation 0 delivered loser', 'data 2', 'data 4'])
    expect(script.equivocations).toEqual([
      { streamPartId: partId, place: at(0), winner: low, loser: high, delivered: 'loser' },
    ])
    expect(script.run(data(4, low), data(2, high), data(4, high))).toEqual([])
    expect(script.verified).toBe(2)
    expect(script.core.counters['data.equivocations']).toBe(1)
  })

  it('are told of as well where the one that counts came first, and the other goes no further', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(data(2, low))
    expect(script.run(data(3, high), data(3, high))).toEqual(['equivocation 0 delivered winner'])
    expect(script.equivocations[0]).toMatchObject({ winner: low, loser: { bytes: high.bytes } })
  })

  it('are one later: who attaches or fetches gets the one that counts', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    const packets: Uint8Array[] = []
    script.onData = (_, packet) => packets.push(packet)
    script.run(data(2, high), data(3, low))
    packets.length = 0
    script.run(opened(4), attach(4, 5_000))
    const { publisherId, messageChainId } = low.chain
    const ranges = [{ after: at(-1), upTo: at(0) }]
    script.run(
      control(2, { type: 'fetch', requestId: 1, streamPartId: partId, publisherId, messageChainId, ranges }),
    )
    expect(packets.map((packet) => packet.subarray(-low.bytes.length))).toEqual([low.bytes, low.bytes])
  })

  it('are believed with a good signature only, and who brings another is let go', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(data(2, high))
    expect(script.run(data(3, forged(low)))).toEqual([
      'dropped data.forged',
      'dropped peers.misbehaved',
      'disconnect 3 MISBEHAVED',
      'status',
      'neighbours [2]',
    ])
    expect(script.equivocations).toEqual([])
  })

  it('cost a duplicate no signature check, however its messages were batched', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(data(2, batchOf(1)), data(2, batchOf(1, [1], { previous: at(0) })))
    script.run(data(3, batchOf(1, [0, 1])), data(3, batchOf(1)))
    expect([script.verified, script.equivocations.length]).toEqual([2, 0])
  })

  it('are found in a batch that has more, and what is new of it is delivered', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(data(2, batchOf(2)))
    const more = batchOf(1, [0, 1])
    expect(script.run(data(3, more))).toEqual(['equivocation 0 delivered loser', 'data 2', 'deliver 1'])
    expect(script.run(data(2, more), data(3, batchOf(2)))).toEqual([])
  })

  it('are found while their publisher is looked up', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.policy = 'unknown'
    script.run(data(2, high), data(3, low))
    script.policy = 'allowed'
    const { streamId, publisherId } = low.chain
    const resolved = { type: 'publisherResolved', scope: streamId, publisherId, found: true } as const
    expect(script.run(resolved)).toEqual(['data 3', 'deliver 0', 'equivocation 0 delivered loser', 'data 2'])
  })

  it('are reported once for a place and a few times for a chain, and counted always', () => {
    const script = new CoreScript({ maxEvidencePerChain: 3 }).withNeighbours(2, 3)
    const signed = [9, 8, 7].map((content) =>
      Array.from({ length: 5 }, (_, i) => batchOf(content, [i], i === 0 ? {} : { previous: at(i - 1) })),
    )
    for (const batches of signed) script.run(...batches.map((batch) => data(2, batch)))
    expect(script.core.counters['data.equivocations']).toBe(5)
    expect(script.equivocations.map(({ place }) => place)).toEqual([at(0), at(1), at(2)])
  })

  it('are the same one everywhere, when two halves of an overlay got one each', () => {
    const nodes = [1, 2, 3, 4].map(() => new CoreScript().withNeighbours(2, 3))
    const queue: { to: number; from: number; batch: MessageBatch }[] = []
    // A line, in which each has its left neighbour as 2 and its right one as 3.
    const batches = [low, high]
    nodes.forEach((node, i) => {
      node.onData = (peer, packet) => {
        const batch = batches.find(({ bytes }) => packet.length >= bytes.length && endsWith(packet, bytes))
        const to = peer === 2 ? i - 1 : i + 1
        if (batch !== undefined && nodes[to] !== undefined)
          queue.push({ to, from: peer === 2 ? 3 : 2, batch })
      }
    })
    queue.push({ to: 0, from: 2, batch: high }, { to: 3, from: 3, batch: low })
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      nodes[next.to]?.run(data(next.from, next.batch))
    for (const [i, node] of nodes.entries()) {
      const packets: Uint8Array[] = []
      node.onData = (_, packet) => packets.push(packet)
      idle(node.run(opened(4), attach(4, 5_000)))
      expect(packets.map((packet) => endsWith(packet, low.bytes))).toEqual([true])
      if (node.delivered.some(({ content }) => content[0] === 2))
        expect(node.equivocations, `node ${i}`).toMatchObject([{ delivered: 'loser' }])
    }
  })
})

function endsWith(packet: Uint8Array, bytes: Uint8Array): boolean {
  return bytes.every((byte, i) => packet[packet.length - bytes.length + i] === byte)
}
