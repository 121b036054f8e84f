import { toNodeId, toStreamId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { PublishedStreams } from './published-streams.ts'

it('leaves the stream that was not published to for longest', () => {
  const left: string[] = []
  const userId = toNodeId(`0x${'a'.repeat(40)}`)
  const client = { userId, stopPublishing: async (streamId: string) => void left.push(streamId) }
  const [a, b, c] = ['a', 'b', 'c'].map((path) => toStreamId(`${userId}/${path}`)) as [never, never, never]
  const streams = new PublishedStreams({ maxPublishedStreams: 2 })
  for (const streamId of [a, b, a, c]) streams.note(client, streamId)
  expect(left).toEqual([b])
  expect(streams.size).toBe(2)
})
