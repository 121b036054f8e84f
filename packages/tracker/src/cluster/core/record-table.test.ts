import { createIdentity, generatePrivateKey, toStreamId, toStreamPartId, type NodeId } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeId, webrtcContact } from '../../core/tracker-core.testkit.ts'
import { crypto } from '../cluster.testkit.ts'
import { defaultClusterLimits } from '../limits.ts'
import { ClusterCounters } from './cluster-counters.ts'
import {
  decodeRecord,
  encodeRecord,
  leadKey,
  recordKey,
  type ClusterRecord,
  type RecordBody,
} from './record.ts'
import { RecordTable } from './record-table.ts'

const now = 1_800_000_000_000
const utf8 = new TextEncoder()
const newIdentity = () => createIdentity(generatePrivateKey(systemRandom), crypto)
const writer = newIdentity()
const stranger = newIdentity()
const part = toStreamPartId(toStreamId(`0x${'ab'.repeat(20)}/record`), 3)

const alive: RecordBody = { kind: 'alive', url: 'ws://127.0.0.1:1', nodes: 1, leads: 2, replicas: 3 }
const lead: RecordBody = { kind: 'lead', streamPartId: part, chunks: 2, nodes: 3 }
const topology: RecordBody = {
  ...{ kind: 'topology', streamPartId: part, chunk: 1, chunks: 2 },
  nodes: [
    { nodeId: nodeId(1), contact: webrtcContact, neighbours: [nodeId(2), nodeId(3)] },
    {
      nodeId: nodeId(2),
      contact: { ...webrtcContact, addresses: [{ kind: 'websocket', text: 'ws://x' }] },
      neighbours: [],
    },
  ],
}

function recordOf(body: RecordBody, times: Partial<ClusterRecord> = {}, by = writer) {
  const record = { writer: by.nodeId, writtenAt: now, expiresAt: now + 1_000, body, ...times }
  const key = utf8.encode(recordKey(record.writer, body))
  return { record, key, bytes: encodeRecord(record, by, crypto) }
}

function table(
  limits: Partial<typeof defaultClusterLimits> = {},
  registered: readonly NodeId[] = [writer.nodeId],
) {
  const counters = new ClusterCounters()
  const accepted: ClusterRecord[] = []
  const made = new RecordTable(
    { ...defaultClusterLimits, ...limits },
    {
      ...{
        crypto,
        count: (name) => counters.count(name),
        onAccepted: (record) => void accepted.push(record),
      },
      isRegistered: (id) => registered.includes(id),
    },
  )
  return { made, counters, accepted }
}

describe('a record', () => {
  it.each([alive, lead, topology])('survives its encoding: $kind', (body) => {
    const { record, key, bytes } = recordOf(body)
    expect(decodeRecord(key, bytes, crypto)).toEqual(record)
  })

  it('names no URL that nobody may be told to dial', () => {
    const { key, bytes } = recordOf(topology)
    const url = Buffer.from(bytes).indexOf('ws://x')
    const other = Uint8Array.from(bytes)
    other.set(utf8.encode('w\n'), url)
    expect(() => decodeRecord(key, other, crypto)).toThrow(
      expect.objectContaining({ code: 'CLUSTER_RECORD_MALFORMED' }),
    )
  })

  it('is refused with any byte changed, cut or added, and without another error than those two', () => {
    const { key, bytes } = recordOf(topology)
    const isRefused = (changed: Uint8Array) => {
      expect(() => decodeRecord(key, changed, crypto)).toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/^CLUSTER_RECORD_(MALFORMED|FORGED|UNKNOWN)$/),
        }),
      )
    }
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
        isRefused(bytes.map((byte, index) => (index === at ? byte ^ by : byte)))
        isRefused(bytes.slice(0, at))
      }),
      { numRuns: 50 },
    )
    isRefused(Uint8Array.of(...bytes, 0))
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), isRefused))
  })
})

describe('a table of records', () => {
  it('takes what a registered tracker signed, and the same once more', () => {
    const { made, counters } = table()
    for (const body of [alive, lead, topology]) {
      const { key, bytes } = recordOf(body)
      expect(made.offer(key, bytes, now)).toBeUndefined()
      expect(made.offer(key, bytes, now)).toBeUndefined()
    }
    expect(counters.get('recordsAccepted')).toBe(3)
    expect(made.alive(writer.nodeId, now)).toMatchObject({ nodes: 1, leads: 2 })
    expect(made.leads(part, [writer.nodeId], now)).toMatchObject([{ writer: writer.nodeId, chunks: 2 }])
    expect(made.leads(part, [stranger.nodeId], now)).toEqual([])
    expect(made.chunk(writer.nodeId, part, 1, 2, now)).toEqual(topology)
    expect(made.chunk(writer.nodeId, part, 1, 4, now)).toBeUndefined()
    expect(made.leadCount(stranger.nodeId)).toBe(1)
  })

  it('refuses what is forged, of a stranger, stale, dated ahead, lasting or too large, each with its counter', () => {
    const { made, counters } = table({ maxRecordBytes: 1_000 })
    const good = recordOf(lead)
    made.offer(good.key, good.bytes, now)
    const forged = encodeRecord({ ...good.record, writtenAt: now + 5 }, stranger, crypto)
    const hour = 3_600_000
    const cases = [
      ['recordsForged', good.key, forged],
      ['recordsOfStrangers', ...offerOf(recordOf(lead, {}, stranger))],
      ['recordsStale', ...offerOf(recordOf(lead, { writtenAt: now - 1 }))],
      ['recordsStale', ...offerOf(recordOf({ ...lead, nodes: 9 }))],
      ['recordsStale', ...offerOf(recordOf(alive, { expiresAt: now }))],
      ['recordsTooFar', ...offerOf(recordOf(alive, { writtenAt: now + hour, expiresAt: now + hour + 1 }))],
      ['recordsTooFar', ...offerOf(recordOf(alive, { expiresAt: now + 24 * hour }))],
      ['recordsMalformed', utf8.encode(leadKey(stranger.nodeId, part)), good.bytes],
      ['recordsMalformed', utf8.encode('/runnel'), Uint8Array.of(1)],
      ['recordsTooLarge', good.key, new Uint8Array(1_001)],
    ] as const
    for (const [refusal, key, bytes] of cases) {
      const before = counters.get(refusal)
      expect(made.offer(key, bytes, now)).toBe(refusal)
      expect(counters.get(refusal)).toBe(before + 1)
    }
    expect(made.leads(part, [writer.nodeId], now)).toMatchObject([{ writtenAt: now }])
  })

  it('believes nothing dated ahead when the clock was set back, and takes what is written then', () => {
    const { made } = table()
    const hour = 3_600_000
    const before = recordOf(lead, { writtenAt: now, expiresAt: now + hour })
    const after = recordOf({ ...lead, nodes: 4 }, { writtenAt: now - hour, expiresAt: now })
    made.offer(...offerOf(before), now)
    expect(made.leads(part, [writer.nodeId], now - hour)).toEqual([])
    expect(made.offer(...offerOf(before), now - hour)).toBe('recordsTooFar')
    expect(made.offer(...offerOf(after), now - hour)).toBeUndefined()
    expect(made.leads(part, [writer.nodeId], now - hour)).toMatchObject([{ writtenAt: now - hour }])
    made.offer(...offerOf(before), now)
    made.purge(now - hour)
    expect(made.leadCount(stranger.nodeId)).toBe(0)
  })

  it('keeps no more of a tracker than it may have, forgets what expires and who is removed', () => {
    const registered = [writer.nodeId]
    const { made, counters } = table({ maxRecordsPerTracker: 2 }, registered)
    const leadOf = (partition: number) => {
      const streamPartId = toStreamPartId(toStreamId(`0x${'ab'.repeat(20)}/many`), partition)
      return recordOf({ kind: 'lead', streamPartId, chunks: 1, nodes: 1 })
    }
    const outcomes = [0, 1, 2].map((partition) => made.offer(...offerOf(leadOf(partition)), now))
    expect(outcomes).toEqual([undefined, undefined, 'recordsTooMany'])
    made.purge(now + 1_000)
    expect(made.offer(...offerOf(leadOf(2)), now)).toBeUndefined()
    registered.pop()
    made.purge(now)
    expect(made.leadCount(stranger.nodeId)).toBe(0)
    expect(counters.get('recordsTooMany')).toBe(1)
  })

  it('counts the claims of others to lead, as they come, end, expire and are forgotten', () => {
    const other = newIdentity()
    const { made } = table({}, [writer.nodeId, other.nodeId])
    const streamId = toStreamId(`0x${'ab'.repeat(20)}/counted`)
    const claim = (by: typeof writer, partition: number, chunks: number, writtenAt: number) => {
      const body = {
        kind: 'lead',
        streamPartId: toStreamPartId(streamId, partition),
        chunks,
        nodes: 1,
      } as const
      made.offer(...offerOf(recordOf(body, { writtenAt, expiresAt: writtenAt + 1_000 }, by)), now)
      return made.leadCount(stranger.nodeId)
    }
    made.offer(...offerOf(recordOf(alive)), now)
    const counts = [claim(writer, 0, 1, now), claim(writer, 1, 2, now), claim(other, 0, 1, now)]
    expect(counts).toEqual([1, 2, 3])
    // One is renewed, one is refused as too old, one ends, comes again, and is the one that does not expire.
    expect([claim(writer, 0, 4, now + 1), claim(writer, 0, 0, now)]).toEqual([3, 3])
    expect([claim(writer, 1, 0, now + 1), claim(writer, 1, 1, now + 500)]).toEqual([2, 3])
    expect([made.leadCount(writer.nodeId), made.leadCount(other.nodeId)]).toEqual([1, 2])
    made.purge(now + 1_100)
    expect(made.leadCount(stranger.nodeId)).toBe(1)
    made.forget(writer.nodeId)
    expect(made.leadCount(stranger.nodeId)).toBe(0)
  })

  it('bounds the bytes of a tracker', () => {
    const { bytes } = recordOf(lead)
    const { made } = table({ maxRecordBytesPerTracker: bytes.length })
    expect(made.offer(...offerOf(recordOf(lead)), now)).toBeUndefined()
    expect(made.offer(...offerOf(recordOf(alive)), now)).toBe('recordsTooMany')
    expect(made.offer(...offerOf(recordOf(lead, { writtenAt: now + 1 })), now)).toBeUndefined()
  })
})

function offerOf({ key, bytes }: { readonly key: Uint8Array; readonly bytes: Uint8Array }) {
  return [key, bytes] as const
}
