import { describe, expect, it } from 'vitest'
import { describeIssues, staticNetworkSchema } from './static-network.ts'

const owner = `0x${'1'.repeat(40)}`
const stream = { id: `${owner}/a` }
const valid = { version: 1, trackers: [], streams: [stream] }

function mistakesOf(document: unknown): string {
  const result = staticNetworkSchema.safeParse(document)
  return result.success ? 'none' : describeIssues(result.error)
}

describe('a static network document', () => {
  it('may leave out what has a default', () => {
    expect(staticNetworkSchema.parse(valid).streams).toEqual([
      { id: stream.id, partitions: 1, metadata: '{}', trackers: [], storageNodes: [], permissions: [] },
    ])
  })

  it('says until when as true, as Unix milliseconds or as a date', () => {
    const permissions = [
      { user: owner, publish: true, subscribe: 1000 },
      { user: 'public', publish: false, subscribe: '2030-01-01T00:00:00Z' },
    ]
    const parsed = staticNetworkSchema.parse({ ...valid, streams: [{ ...stream, permissions }] })
    expect(parsed.streams[0]?.permissions).toEqual([
      { user: owner, publish: Infinity, subscribe: 1000 },
      { user: 'public', publish: 0, subscribe: Date.UTC(2030, 0, 1) },
    ])
  })

  it.each([
    ['another version', { ...valid, version: 2 }, /^version: /],
    ['a key nobody knows', { ...valid, sterams: [] }, /^\(top level\): .*"sterams"/],
    ['a list that is missing', { version: 1, streams: [] }, /^trackers: /],
    ['a bad stream id', { ...valid, streams: [{ id: 'a' }] }, /^streams\[0\]\.id: Not a stream id/],
    ['no partitions', { ...valid, streams: [{ ...stream, partitions: 0 }] }, /^streams\[0\]\.partitions: /],
    [
      'too many partitions',
      { ...valid, streams: [{ ...stream, partitions: 101 }] },
      /^streams\[0\]\.partitions: /,
    ],
    [
      'a stream listed twice',
      { ...valid, streams: [stream, stream] },
      /^streams\[1\]\.id: .* is listed twice/,
    ],
    [
      'a bad user',
      { ...valid, streams: [{ ...stream, permissions: [{ user: 'bob' }] }] },
      /^streams\[0\]\.permissions\[0\]\.user: must be "public" or a node id/,
    ],
    [
      'a bad date',
      { ...valid, streams: [{ ...stream, permissions: [{ user: owner, publish: 'soon' }] }] },
      /^streams\[0\]\.permissions\[0\]\.publish: must be true, false, Unix milliseconds/,
    ],
    [
      'a public permission to delete',
      { ...valid, streams: [{ ...stream, permissions: [{ user: 'public', delete: true }] }] },
      /^streams\[0\]\.permissions\[0\]: only publish and subscribe can be public/,
    ],
    [
      'a tracker nobody can connect to',
      { ...valid, trackers: [{ nodeId: owner, url: 'http://tracker.example' }] },
      /^trackers\[0\]\.url: must be a ws:\/\/ or wss:\/\/ URL/,
    ],
    [
      'a storage node listed twice',
      {
        ...valid,
        streams: [{ ...stream, storageNodes: [1, 2].map(() => ({ nodeId: owner, url: 'ws://a.example' })) }],
      },
      /^streams\[0\]\.storageNodes\[1\]\.nodeId: .* is listed twice/,
    ],
    ['no object at all', [], /^\(top level\): /],
  ])('refuses %s and says where', (_, document, message) => {
    expect(mistakesOf(document)).toMatch(message)
  })
})
