import { toNodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { notReadyReasons } from './readiness.ts'
import type { NodeSnapshot } from './snapshot.ts'

const nodeId = toNodeId(`0x${'a'.repeat(40)}`)
const working: NodeSnapshot = {
  nodeId,
  pid: 1,
  websocketUrl: undefined,
  cryptoBackend: 'js',
  uptimeMs: 0,
  chainEndpoints: [],
  trackers: [
    { nodeId, connected: false },
    { nodeId: toNodeId(`0x${'b'.repeat(40)}`), connected: true },
  ],
  isReplaced: false,
  streams: { isRead: true, followed: [], ignoredParts: 0 },
  admissionProblem: undefined,
  clockProblem: undefined,
  streamParts: [],
  counters: {},
  plugins: {},
}
const storage = (isHealthy: boolean) =>
  ({ storage: { isHealthy, location: 'x.db' } }) as NodeSnapshot['plugins']

describe('notReadyReasons', () => {
  it.each<[string, Partial<NodeSnapshot>, string[]]>([
    ['a node that works', {}, []],
    ['a storage node that works', { plugins: storage(true) }, []],
    ['no tracker at all', { trackers: [] }, ['NO_TRACKER']],
    ['no tracker that is connected', { trackers: [{ nodeId, connected: false }] }, ['NO_TRACKER']],
    ['another process in its place', { trackers: [], isReplaced: true }, ['NODE_REPLACED']],
    ['storage that is not open', { plugins: storage(false) }, ['STORAGE_FAILED']],
    ['streams not known yet', { streams: { ...working.streams, isRead: false } }, ['STREAMS_UNREAD']],
    [
      'a clock that is wrong',
      { clockProblem: { code: 'CLOCK_WRONG', message: '8 min ahead' } },
      ['CLOCK_WRONG'],
    ],
    [
      'a private network without it',
      { trackers: [], admissionProblem: { code: 'NODE_NOT_LISTED', message: 'not listed' } },
      ['NO_TRACKER', 'NOT_ADMITTED'],
    ],
  ])('%s', (_, different, codes) => {
    expect(notReadyReasons({ ...working, ...different }).map(({ code }) => code)).toEqual(codes)
  })
})
