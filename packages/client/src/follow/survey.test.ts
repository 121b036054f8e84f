import { toNodeId, toStreamId, type StreamId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { noPermissions } from '../registry/ports.ts'
import { parseStreamPattern } from './stream-pattern.ts'
import { survey, type SurveyedClient, type SurveyOptions } from './survey.ts'

const owner = toNodeId(`0x${'a'.repeat(40)}`)
const id = (path: string) => toStreamId(`${owner}/${path}`)

interface Known {
  readonly path: string
  readonly createdMs?: number
  readonly partitions?: number
  readonly isReadable?: boolean
  /** The registry does not say who may read it. */
  readonly isBroken?: boolean
}

/** A registry with some streams. */
function registryOf(streams: readonly Known[]) {
  let [asking, mostAsking] = [0, 0]
  const client: SurveyedClient = {
    userId: owner,
    getStream: () => Promise.reject(clientError('STREAM_NOT_FOUND')),
    listStreams: () =>
      Promise.resolve(
        streams.map(({ path, createdMs = 0, partitions = 1 }) => ({
          ...{ id: id(path), partitions, createdMs, metadata: '', trackers: [] },
        })),
      ),
    permissionsOf: async (streamId) => {
      mostAsking = Math.max(mostAsking, ++asking)
      await Promise.resolve()
      asking--
      const stream = streams.find(({ path }) => id(path) === streamId)
      if (stream?.isBroken === true) throw clientError('CHAIN_UNREACHABLE')
      return { ...noPermissions, subscribeUntilMs: stream?.isReadable === false ? 0 : Infinity }
    },
  }
  return { client, mostAsking: () => mostAsking }
}

async function look(streams: readonly Known[], options: Partial<SurveyOptions> = {}) {
  const { client, mostAsking } = registryOf(streams)
  const patterns = [parseStreamPattern('/#', owner)]
  const bounds = { maxStreams: 100, maxLooks: 1_000, maxParts: 1_000, nowMs: 0 }
  const { looks, leftOut } = await survey({ patterns, held: new Map(), ...bounds, ...options }, client)
  const seen = [...looks].map(
    ([streamId, { state, partitions }]) => `${streamId.slice(43)} ${state} ${partitions}`,
  )
  return { seen, leftOut, mostAsking: mostAsking() }
}

const held = (...paths: string[]) => new Map<StreamId, number>(paths.map((path) => [id(path), 1]))

describe('a survey', () => {
  it('leaves out the newest streams of too many, but none that is held', async () => {
    const streams = [
      { path: 'a', createdMs: 3 },
      { path: 'b', createdMs: 2 },
      { path: 'c', createdMs: 1 },
    ]
    expect(await look(streams, { maxStreams: 2 })).toMatchObject({
      seen: ['c readable 1', 'b readable 1'],
      leftOut: { streams: 1, parts: 1 },
    })
    expect(await look(streams, { maxStreams: 2, held: held('a') })).toMatchObject({
      seen: ['a readable 1', 'c readable 1'],
    })
  })

  it('counts against the bound what may be read, and looks at no more than it may', async () => {
    const streams = [{ path: 'a', isReadable: false }, { path: 'b' }, { path: 'c' }]
    expect(await look(streams, { maxStreams: 1 })).toMatchObject({
      seen: ['a denied 0', 'b readable 1'],
      leftOut: { streams: 1 },
    })
    expect(await look(streams, { maxLooks: 1 })).toMatchObject({
      seen: ['a denied 0'],
      leftOut: { streams: 2, parts: 2 },
    })
  })

  it('takes a stream whole or not at all, and one that grows too large as it is held', async () => {
    const streams = [
      { path: 'a', partitions: 3 },
      { path: 'b', partitions: 2 },
    ]
    expect(await look(streams, { maxParts: 2 })).toMatchObject({
      seen: ['b readable 2'],
      leftOut: { streams: 1, parts: 3 },
    })
    expect(await look(streams, { maxParts: 2, held: held('a') })).toMatchObject({
      seen: ['a readable 1'],
      leftOut: { streams: 2, parts: 4 },
    })
  })

  it('keeps what it holds where the registry does not say', async () => {
    expect(await look([{ path: 'a', isBroken: true }], { held: held('a') })).toMatchObject({
      seen: ['a failed 1'],
    })
  })

  it('asks about a few streams at a time', async () => {
    const streams = Array.from({ length: 100 }, (_, n) => ({ path: String(n) }))
    const { seen, mostAsking } = await look(streams)
    expect([seen.length, mostAsking]).toEqual([100, 32])
  })
})
