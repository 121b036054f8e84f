import { toNodeId, toStreamId, toStreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import type { NodeSnapshot, ObservedChain } from '../snapshot.ts'
import { buildReport, hasEverything } from './report.ts'
import { isOverlayComplete } from './overlay-state.ts'
import { idleStorageStatus } from '../../../storage/src/storage-status.testkit.ts'

const idOf = (number: number) => toNodeId(`0x${number.toString(16).padStart(40, '0')}`)
const streamId = toStreamId(`${idOf(99)}/system/cpu`)
const part = toStreamPartId(streamId, 0)
const last = { timestamp: 30, sequenceNumber: 0 }
const published = [{ streamId, messages: 3, last }]

function snapshot(
  number: number,
  neighbours: readonly number[],
  chain: Partial<ObservedChain> = {},
): NodeSnapshot {
  const links = neighbours.map((neighbour) => ({ nodeId: idOf(neighbour), transport: 'memory', rttMs: 1 }))
  return {
    nodeId: idOf(number),
    pid: 1,
    websocketUrl: undefined,
    cryptoBackend: 'native',
    uptimeMs: 1,
    streams: { isRead: true, followed: [], ignoredParts: 0 },
    isReplaced: false,
    admissionProblem: undefined,
    clockProblem: undefined,
    trackers: [],
    chainEndpoints: [],
    counters: {},
    streamParts: [
      {
        streamPartId: part,
        neighbours: links,
        wantedNeighbours: links.length,
        delivered: 3,
        duplicates: 5,
        published: 0,
      },
    ],
    plugins: {
      observer: {
        observed: [
          {
            ...{ streamPartId: part, publisherId: idOf(1), messageChainId: 'c', delivered: 3, repeated: 0 },
            ...{ missing: 0, tooOld: 0, last, ...chain },
          },
        ],
        latencyMs: undefined,
        unaccounted: 0,
      },
    },
  }
}

function reportOf(
  subscribers: readonly NodeSnapshot[],
  over: { published?: typeof published; died?: string[]; storage?: NodeSnapshot[] } = {},
) {
  return buildReport({
    publisher: snapshot(1, [2, 3]),
    subscribers,
    ...{
      published,
      storage: [],
      streamPartIds: [part],
      degreesExact: true,
      startedInMs: 1,
      publishedForMs: 1,
      trackers: [],
      chainEndpoints: [],
      died: [],
    },
    ...over,
  })
}

describe('buildReport', () => {
  it('is complete when every subscriber got every message exactly once', () => {
    const report = reportOf([snapshot(2, [1, 3]), snapshot(3, [1, 2])])
    expect(report).toMatchObject({ complete: true, messagesPublished: 3 })
    expect(report.nodes[1]).toMatchObject({
      role: 'subscriber',
      delivered: 3,
      duplicates: 5,
      missing: 0,
      degree: { [part]: 2 },
    })
  })

  it.each([
    ['a message too few', { delivered: 2 }],
    ['one delivered twice', { repeated: 1 }],
    ['another last message', { last: { timestamp: 29, sequenceNumber: 0 } }],
    ['more than was published', { delivered: 4 }],
    ['another publisher', { publisherId: idOf(7) }],
  ] as const)('is incomplete with %s', (_, chain) => {
    expect(hasEverything(snapshot(2, [], chain), idOf(1), published)).toBe(false)
    expect(reportOf([snapshot(2, []), snapshot(3, [], chain)]).complete).toBe(false)
  })

  it('is incomplete when the storage node has not stored all', () => {
    const storing = (storedMessages: number, queuedBatches = 0): NodeSnapshot => ({
      ...snapshot(4, []),
      plugins: {
        storage: {
          ...idleStorageStatus,
          ingest: { ...idleStorageStatus.ingest, queuedBatches, storedMessages },
        },
      },
    })
    const reportWith = (storage: NodeSnapshot) => reportOf([snapshot(2, [])], { storage: [storage] })
    expect(reportWith(storing(3))).toMatchObject({
      complete: true,
      storage: [{ id: idOf(4), storedMessages: 3, queuedBatches: 0, lagMs: 0, droppedBatches: 0 }],
    })
    expect(reportWith(storing(2)).complete).toBe(false)
    expect(reportWith(storing(3, 1)).complete).toBe(false)
  })

  it('is incomplete when nothing was published, nobody listened, or a process died', () => {
    expect(reportOf([snapshot(2, [])], { published: [] }).complete).toBe(false)
    expect(reportOf([]).complete).toBe(false)
    expect(reportOf([snapshot(2, [])], { died: ['node 3'] }).complete).toBe(false)
  })
})

describe('isOverlayComplete', () => {
  const ring = [snapshot(1, [2, 4]), snapshot(2, [1, 3]), snapshot(3, [2, 4]), snapshot(4, [3, 1])]

  it('wants the degree exactly', () => {
    expect(isOverlayComplete(ring, part, 2)).toBe(true)
    expect(isOverlayComplete(ring, part, 3)).toBe(false)
    expect(isOverlayComplete([...ring, snapshot(5, [])], part, 2)).toBe(false)
  })

  it('wants everybody with everybody when there are no more than the degree', () => {
    expect(isOverlayComplete([snapshot(1, [2]), snapshot(2, [1])], part, 4)).toBe(true)
    expect(isOverlayComplete([snapshot(1, []), snapshot(2, [])], part, 4)).toBe(false)
    expect(isOverlayComplete([snapshot(1, [])], part, 4)).toBe(true)
  })

  it('allows one open slot where the numbers are odd', () => {
    const path = [snapshot(1, [2]), snapshot(2, [1]), snapshot(3, [])]
    expect(isOverlayComplete(path, part, 1)).toBe(true)
  })

  it('wants both sides to agree', () => {
    const lopsided = [snapshot(1, [2, 3]), snapshot(2, [1, 3]), snapshot(3, [1, 4]), snapshot(4, [1, 3])]
    expect(isOverlayComplete(lopsided, part, 2)).toBe(false)
  })
})
