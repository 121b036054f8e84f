import { toNodeId, toStreamId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { PublishedStreams } from './published-streams.ts'

const nodeId = toNodeId(`0x${'a'.repeat(40)}`)
const [a, b, c] = ['a', 'b', 'c'].map((path) => toStreamId(`${nodeId}/${path}`)) as [never, never, never]

it('leaves the stream that was not published to for longest', () => {
  const left: string[] = []
  const client = { nodeId, stopPublishing: async (streamId: string) => void left.push(streamId) }
  const streams = new PublishedStreams({ maxPublishedStreams: 2 })
  for (const streamId of [a, b, a, c]) streams.note(client, streamId)
  expect(left).toEqual([b])
  expect(streams.size).toBe(2)
})

it('leaves it with the client that published, of several of one user', () => {
  const left: string[] = []
  const clients = ['b', 'c'].map((digit) => ({
    nodeId: toNodeId(`0x${digit.repeat(40)}`),
    stopPublishing: async () => void left.push(digit),
  }))
  const streams = new PublishedStreams({ maxPublishedStreams: 2 })
  for (const client of clients) streams.note(client, a)
  for (const client of clients) streams.note(client, b)
  expect(left).toEqual(['b', 'c'])
})
