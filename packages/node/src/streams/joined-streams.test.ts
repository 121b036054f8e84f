import { clientError, type ClientStatus, type StreamInfo } from '@runnel/client'
import { toNodeId, toStreamId, type StreamId } from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { nodeLimits } from '../limits.ts'
import { JoinedStreams } from './joined-streams.ts'

const [user, owner] = [toNodeId(`0x${'a'.repeat(40)}`), toNodeId(`0x${'b'.repeat(40)}`)]
const id = (path: string, of = owner) => toStreamId(`${of}/${path}`)

describe('JoinedStreams', () => {
  let partitions: Map<StreamId, number>
  let readableUntilMs: Map<StreamId, number>
  let joined: Set<string>
  let said: string[]
  let timers: { readonly delayMs: number; readonly run: () => void }[]
  let isDown: boolean
  let nowMs: number
  let say: (status: ClientStatus) => void

  beforeEach(() => {
    partitions = new Map()
    readableUntilMs = new Map()
    joined = new Set()
    said = []
    timers = []
    isDown = false
    nowMs = 0
  })

  const create = (path: string, count = 1, untilMs = Infinity, of = owner) => {
    partitions.set(id(path, of), count)
    readableUntilMs.set(id(path, of), untilMs)
  }
  const infoOf = (streamId: StreamId): StreamInfo => {
    const count = partitions.get(streamId)
    if (count === undefined) throw clientError('STREAM_NOT_FOUND', streamId)
    return { id: streamId, partitions: count, metadata: '', trackers: [], createdMs: 0 }
  }
  const answers = () => {
    if (isDown) throw clientError('CHAIN_UNREACHABLE', 'gone')
  }
  const log = (_: object, text: string) => void said.push(text)

  function follow(streams: readonly string[], limits: Partial<Record<keyof typeof nodeLimits, number>> = {}) {
    return new JoinedStreams(
      { streams, limits: { ...nodeLimits, ...limits } as typeof nodeLimits },
      {
        clock: {
          now: () => nowMs,
          schedule: (delayMs, run) => {
            const timer = { delayMs, run }
            timers.push(timer)
            return () => (timers = timers.filter((one) => one !== timer))
          },
        },
        logger: { info: log as never, warn: log as never },
        client: {
          account: user,
          userId: user,
          getStream: async (streamId) => {
            answers()
            return infoOf(toStreamId(streamId))
          },
          listStreams: async ({ owner: of }) => {
            answers()
            return [...partitions.keys()].filter((one) => one.startsWith(of)).map(infoOf)
          },
          permissionsOf: async (streamId) => {
            const subscribeUntilMs = readableUntilMs.get(toStreamId(streamId)) ?? 0
            return { edit: false, delete: false, grant: false, publishUntilMs: 0, subscribeUntilMs }
          },
          joinStreamPart: async (streamId, partition) => {
            const part = `${streamId.slice(streamId.indexOf('/'))}#${partition}`
            expect(joined.has(part)).toBe(false)
            joined.add(part)
            return () => joined.delete(part)
          },
          status: () => {
            const queue: ClientStatus[] = []
            let wake = Promise.withResolvers<void>()
            let isOver = false
            say = (status) => {
              queue.push(status)
              wake.resolve()
            }
            return {
              [Symbol.asyncIterator]() {
                return this
              },
              next: async () => {
                while (queue.length === 0 && !isOver) await wake.promise
                wake = Promise.withResolvers()
                const value = queue.shift()
                return value === undefined ? { done: true, value } : { done: false, value }
              },
              return: () => {
                isOver = true
                wake.resolve()
                return Promise.resolve({ done: true, value: undefined })
              },
            }
          },
        },
      },
    )
  }
  const states = (follower: JoinedStreams) =>
    follower.status.followed.map(({ streamId, state }) => `${streamId.slice(43)} ${state}`)

  it('joins all partitions of what it is told, and says what it may not read', async () => {
    create('open', 3)
    create('closed', 1, 0)
    create('mine', 1, Infinity, user)
    const follower = follow([`${owner}/open`, `${owner}/closed`, '/mine', `${owner}/gone`])
    await follower.refresh()
    expect([...joined].sort()).toEqual(['/mine#0', '/open#0', '/open#1', '/open#2'])
    expect(states(follower)).toEqual(['open joined', 'closed denied', 'mine joined', 'gone missing'])
    expect(follower.status).toMatchObject({ isRead: true, ignoredParts: 0 })
    expect(said.join('\n')).toContain(`runnel stream grant ${owner}/closed ${user} subscribe`)
    await follower.refresh()
    expect(said).toHaveLength(4)
    await follower.stop()
    expect([...joined]).toEqual([])
  })

  it('follows what is created, permitted and deleted', async () => {
    create('rooms/1')
    create('rooms/2', 1, 0)
    create('other')
    const follower = follow([`${owner}/rooms/*`])
    follower.start()
    await follower.refresh()
    expect([...joined]).toEqual(['/rooms/1#0'])
    const change = async (path: string, kind: 'stream' | 'permissions') => {
      const streamId = id(path)
      say({ type: 'registry', change: kind === 'stream' ? { kind, streamId } : { kind, streamId, user } })
      await Promise.resolve()
      await follower.refresh()
    }
    create('rooms/3', 2)
    await change('rooms/3', 'stream')
    create('rooms/2')
    await change('rooms/2', 'permissions')
    partitions.delete(id('rooms/1'))
    await change('rooms/1', 'stream')
    expect([...joined].sort()).toEqual(['/rooms/2#0', '/rooms/3#0', '/rooms/3#1'])
    await follower.stop()
    expect([...joined]).toEqual([])
  })

  it('leaves when its permission ends', async () => {
    create('timed', 1, 500)
    const follower = follow([`${owner}/*`])
    await follower.refresh()
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([500])
    nowMs = 500
    timers[0]?.run()
    await follower.refresh()
    expect(states(follower)).toEqual(['timed denied'])
    expect([...joined]).toEqual([])
  })

  it('joins no more than it may, keeps what it has, and counts the rest', async () => {
    create('m', 2)
    const follower = follow([`${owner}/*`], { maxFollowedParts: 3, maxFollowedStreams: 2 })
    await follower.refresh()
    create('a', 2)
    create('b', 5)
    await follower.refresh()
    expect([...joined]).toEqual(['/m#0', '/m#1'])
    expect(follower.status.ignoredParts).toBe(3)
    create('m', 3)
    await follower.refresh()
    expect([...joined]).toEqual(['/m#0', '/m#1', '/m#2'])
    create('m', 4)
    await follower.refresh()
    expect(follower.status.ignoredParts).toBe(4)
  })

  it('keeps what it has while the registry does not answer, and asks again', async () => {
    const follower = follow([`${owner}/*`])
    isDown = true
    await follower.refresh()
    expect(follower.status.isRead).toBe(false)
    create('late')
    isDown = false
    timers.at(-1)?.run()
    await follower.refresh()
    expect([...joined]).toEqual(['/late#0'])
    isDown = true
    await follower.refresh()
    expect(follower.status.isRead).toBe(true)
    expect([...joined]).toEqual(['/late#0'])
    expect(timers.at(-1)?.delayMs).toBe(nodeLimits.minFollowBackoffMs)
  })
})
