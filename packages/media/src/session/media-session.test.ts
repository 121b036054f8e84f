import { spawn } from 'node:child_process'
import { createReadStream, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { toStreamId } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { VirtualClock } from '../../../transport/src/memory/virtual-clock.ts'
import { Clients, newAccount, startTracker } from '../../../client/src/client.testkit.ts'
import { opusDurationMs } from '../files/opus-packet.ts'
import { publishIvf, publishOgg } from '../files/publish-files.ts'
import type { MediaObject } from '../core/media-object.ts'
import { controlContent, type Control } from '../catalogue/catalogue.ts'
import { mediaLimits } from '../limits.ts'
import { FrameOrder } from '../core/frame-order.ts'
import type { LeaveReason } from './member.ts'
import type { MediaSession } from './media-session.ts'
import type { NewTrack } from './new-track.ts'
import { openSession } from './open-session.ts'
import type { ObjectPlace } from './session-events.ts'

const vectors = join(import.meta.dirname, '../../vectors')
const owner = newAccount()
const room = toStreamId(`${owner.nodeId}/room`)
const small = toStreamId(`${owner.nodeId}/small`)
const secret = toStreamId(`${owner.nodeId}/secret`)
const picture: NewTrack = {
  ...{ kind: 'video', source: 'camera', codec: 'vp8', codedWidth: 320, codedHeight: 180, framerate: 15 },
  ...{ bitrate: 120_000, altGroup: 0 },
}
const sound: NewTrack = {
  ...{
    kind: 'audio',
    source: 'microphone',
    codec: 'opus',
    sampleRate: 48_000,
    numberOfChannels: 1,
    frameMs: 20,
  },
  bitrate: 32_000,
}

let tracker: Tracker
let clients: Clients
const sessions: MediaSession[] = []
const members = [newAccount(), newAccount()]

beforeAll(async () => {
  tracker = await startTracker()
  const open = [{ user: 'public' as const, publish: true, subscribe: true }]
  const permissions = members.map(({ nodeId }) => ({ user: nodeId, publish: true, subscribe: true }))
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      { id: room, partitions: 4, permissions: open },
      { id: small, permissions: open },
      { id: secret, partitions: 2, permissions },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()))
  await clients.closeAll()
})
afterAll(() => tracker.stop())

async function* ratesOf(queue: { readonly given: number[]; wake: () => void }): AsyncGenerator<number> {
  for (;;) {
    const next = queue.given.shift()
    if (next !== undefined) yield next
    else await new Promise<void>((resolve) => (queue.wake = resolve))
  }
}

interface Got {
  readonly object: MediaObject
  readonly place: ObjectPlace
  readonly from: string
}

/** A member, and what it gets. */
async function joinAs(
  name: string,
  stream = room,
  index?: number,
  rate?: AsyncIterable<number>,
  replaces?: string,
  clock?: VirtualClock,
  readers?: 'members',
) {
  const { privateKey } = (index === undefined ? undefined : members[index]) ?? newAccount()
  const client = await clients.create({ privateKey })
  const session = await openSession(
    stream,
    { name, decodes: ['vp8'], rate, replaces, readers },
    { client, clock },
  )
  sessions.push(session)
  const got: Got[] = []
  const left: [name: string, reason: LeaveReason][] = []
  session.on('left', ({ catalogue }, reason) => left.push([catalogue.name, reason]))
  session.on('object', (member, object, place) => got.push({ object, place, from: member.catalogue.name }))
  return { session, got, left, client }
}

const until = <T>(isSo: () => T) => expect.poll(isSo, { timeout: 30_000 })
const namesOf = (session: MediaSession) => session.members.map(({ catalogue }) => catalogue.name).sort()

/** Two members that see each other and read all partitions. */
async function pair(stream = room, rate?: AsyncIterable<number>, readers?: 'members') {
  const isSecret = stream === secret
  const ada = await joinAs('Ada', stream, isSecret ? 0 : undefined, rate, undefined, undefined, readers)
  const ben = await joinAs('Ben', stream, isSecret ? 1 : undefined)
  await until(() => [...namesOf(ada.session), ...namesOf(ben.session)]).toEqual(['Ben', 'Ada'])
  return { ada, ben }
}

/** Sends until the other one gets something: whoever has just joined a partition has no neighbour yet. */
async function sendUntilGot(got: readonly Got[], kind: MediaObject['kind'], send: () => void): Promise<Got> {
  const found = () => got.find(({ object }) => object.kind === kind)
  await until(() => {
    send()
    return found()
  }).toBeDefined()
  return found() as Got
}

describe('a session', () => {
  it('tells of a partition that its user may not read any more, and does not take it for read', async () => {
    const user = newAccount()
    const stream = toStreamId(`${owner.nodeId}/brief`)
    const clock = new VirtualClock({ startMs: Date.now() })
    const permissions = [{ user: user.nodeId, publish: true, subscribe: clock.now() + 60_000 }]
    const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
    const document = { version: 1 as const, trackers, streams: [{ id: stream, permissions }] }
    const client = await clients.create(
      { privateKey: user.privateKey, network: { kind: 'static', document } },
      { clock },
    )
    const session = await openSession(stream, { name: 'Ada' }, { client })
    sessions.push(session)
    const faults: unknown[] = []
    session.on('fault', (error) => faults.push(error))
    clock.advanceBy(60_000)
    const reason = { code: 'NO_SUBSCRIBE_PERMISSION' }
    // It might come back.
    await until(() => {
      clock.advanceBy(1_000)
      return faults
    }).toMatchObject([reason])
    await expect(session.read([])).rejects.toMatchObject(reason)
    let isClosed = false
    const closing = session.close().then(() => client.close())
    void closing.then(() => (isClosed = true))
    await until(() => {
      clock.advanceBy(1_000)
      return isClosed
    }).toBe(true)
  })

  it('tells its members of each other, of their tracks, and of who goes', async () => {
    const { ada, ben } = await pair()
    const track = ada.session.publishTrack(sound)
    const tracks = () => ben.session.members[0]?.catalogue.tracks
    await until(tracks).toEqual([{ ...sound, id: track.track.id, partition: 0, state: 'live' }])
    track.mute(true)
    await until(() => tracks()?.[0]?.state).toBe('muted')
    track.close()
    await until(tracks).toEqual([])
    await ada.session.close()
    await until(() => namesOf(ben.session)).toEqual([])
    expect(ben.left).toEqual([['Ada', 'goodbye']])
  })

  it('says goodbye within one call, as a page that is closed does nothing after it', async () => {
    const { ada, ben } = await pair()
    const said = () => ada.client.network.metrics().counters['urgent.published'] ?? 0
    const before = said()
    ada.session.leave()
    expect(said()).toBe(before + 1)
    await until(() => namesOf(ben.session)).toEqual([])
    expect(ben.left).toEqual([['Ada', 'goodbye']])
  })

  it('lets go of who says nothing any more', async () => {
    const clock = new VirtualClock()
    const ben = await joinAs('Ben', room, undefined, undefined, undefined, clock)
    const ada = await joinAs('Ada')
    await until(() => namesOf(ben.session)).toEqual(['Ada'])
    await ada.client.close()
    clock.advanceBy(mediaLimits.memberTtlMs - 1)
    expect(ben.left).toEqual([])
    clock.advanceBy(mediaLimits.catalogueEveryMs)
    expect(ben.left).toEqual([['Ada', 'silence']])
  })

  it('does nothing more once it is closed by who heard that somebody left', async () => {
    const clock = new VirtualClock()
    const ben = await joinAs('Ben', room, undefined, undefined, undefined, clock)
    const ada = await joinAs('Ada')
    ben.session.on('left', () => void ben.session.close())
    await until(() => namesOf(ben.session)).toEqual(['Ada'])
    await ada.client.close()
    clock.advanceBy(mediaLimits.memberTtlMs + mediaLimits.catalogueEveryMs)
    expect(ben.session.isClosed).toBe(true)
    await until(() => clock.nextAtMs).toBe(undefined)
  })

  it('stays the member that it was when the clock of its machine is set right', async () => {
    const minuteMs = 60_000
    let aheadMs = 4 * minuteMs
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    const client = await clients.create({ privateKey: newAccount().privateKey }, { clock })
    const ada = await openSession(room, { name: 'Ada' }, { client })
    sessions.push(ada)
    const ben = await joinAs('Ben')
    await until(() => [...namesOf(ada), ...namesOf(ben.session)]).toEqual(['Ben', 'Ada'])
    const [before] = ben.session.members
    aheadMs = -4 * minuteMs
    const track = ada.publishTrack({ ...picture, source: 'screen' })
    await until(() => ben.session.members[0]?.catalogue.tracks).toHaveLength(1)
    await ben.session.read([track.track.partition])
    const data = new Uint8Array(10)
    await sendUntilGot(ben.got, 'video', () => track.send({ timestampUs: ada.nowUs(), isKey: true, data }))
    expect(ben.session.members.map(({ id }) => id)).toEqual([before?.id])
    expect(ben.left).toEqual([])
  })

  it('takes the place of an earlier session of its user, and of nobody else', async () => {
    const { ada, ben } = await pair(secret)
    const before = ada.session.id
    const eve = await joinAs('Eve', secret, 1, undefined, before)
    await until(() => namesOf(ben.session)).toEqual(['Ada', 'Eve'])
    const again = await joinAs('Ada again', secret, 0, undefined, before)
    // The one before is still there, and says so; what is asked is whether it was let go of.
    const seen: string[][] = []
    ben.session.on('members', () => seen.push(namesOf(ben.session)))
    await until(() => seen.some((names) => names.join() === 'Ada again,Eve')).toBe(true)
    expect(ben.left).toEqual([['Ada', 'replaced']])
    await Promise.all([eve.session.close(), again.session.close()])
  })

  it('lets go of a process that replaced a session of its own, as of any other', async () => {
    const ben = await joinAs('Ben')
    const client = await clients.create({ privateKey: newAccount().privateKey })
    const say = (media: Control) => client.publish(room, controlContent(media), { partition: 0 })
    const [first, second] = ['0000000000000001', '0000000000000002']
    const catalogue = { version: 1, session: first, name: 'Ada', decodes: [], tracks: [] } as const
    await say({ catalogue })
    await until(() => namesOf(ben.session)).toEqual(['Ada'])
    await say({ catalogue: { ...catalogue, session: second, name: 'Ada again', replaces: first } })
    await until(() => namesOf(ben.session)).toEqual(['Ada again'])
    await say({ leave: true, session: second })
    await until(() => namesOf(ben.session)).toEqual([])
  })

  it('answers who comes anew again and again once in a while only', async () => {
    const clock = new VirtualClock()
    const ben = await joinAs('Ben', room, undefined, undefined, undefined, clock)
    const eve = await clients.create({ privateKey: newAccount().privateKey })
    const said = vi.spyOn(ben.client, 'publish')
    for (let i = 0; i < 20; i++) {
      const catalogue = { version: 1, session: `${i}`.padStart(16, '0'), decodes: [], tracks: [] } as const
      const content = controlContent({ catalogue: { ...catalogue, name: `Eve ${i}` } })
      await eve.publish(room, content, { partition: 0 })
    }
    await until(() => namesOf(ben.session)).toEqual(['Eve 19'])
    expect(said).toHaveBeenCalledTimes(0)
    clock.advanceBy(250)
    await Promise.resolve()
    expect(said).toHaveBeenCalledTimes(1)
    clock.advanceBy(1_000)
    await Promise.resolve()
    expect(said).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['each rendition in a partition of its own', room, [0, 1, 2, 3], 'newest-only'],
    ['all in one partition', small, [0, 0, 0, 0], 'newest'],
    ['encrypted', secret, [0, 1, 1, 1], 'newest'],
  ])('brings objects as they were sent: %s', async (_, stream, partitions, order) => {
    const { ada, ben } = await pair(stream)
    const tracks = [
      ...[
        sound,
        picture,
        { ...picture, rendition: 1 },
        { ...picture, source: 'screen', altGroup: 1 } as const,
      ],
    ].map((track) => ada.session.publishTrack(track))
    expect(tracks.map(({ track }) => track.partition)).toEqual(partitions)
    await until(() => ben.session.members[0]?.catalogue.tracks.length).toBe(4)
    await ben.session.read(partitions)
    const orders = new Set<string | undefined>()
    await ben.client.subscribe(stream, { urgent: true }, ({ urgent }) => orders.add(urgent?.order))
    const [voice, low] = tracks
    const data = Uint8Array.of(1, 2, 3)
    const heard = await sendUntilGot(ben.got, 'audio', () =>
      voice?.send({ timestampUs: 5_000, level: 30, data }),
    )
    expect(heard).toMatchObject({
      from: 'Ada',
      object: { kind: 'audio', level: 30, timestampUs: 5_000, data },
    })
    const large = new Uint8Array(40_000).fill(7)
    const seen = await sendUntilGot(ben.got, 'video', () =>
      low?.send({ timestampUs: 6_000, isKey: true, data: large }),
    )
    expect(seen).toMatchObject({
      object: { kind: 'video', isKey: true, dependency: 0, data: large },
      place: { object: 0 },
    })
    expect(orders).toContain(order)
    expect(orders.has(order === 'newest' ? 'newest-only' : 'newest')).toBe(false)
    expect(ben.session.counters.objectsMalformed).toBe(0)
  })

  it('reads what was asked for last, however quickly it was asked', async () => {
    const { client, session } = await joinAs('Ben')
    await session.read([1, 2])
    await Promise.all([session.read([1]), session.read([1, 3])])
    expect(client.network.streamParts.toSorted()).toEqual(
      [0, 1, 3].map((partition) => `${room}#${partition}`),
    )
  })

  it('publishes all renditions where who reads may be no member, such as the audience of a lecture', async () => {
    const { ada, ben } = await pair()
    ada.session.publishTrack(picture)
    ada.session.publishTrack({ ...picture, rendition: 1 })
    const seen = () => ben.session.members[0]?.catalogue.tracks.map(({ state }) => state)
    await until(seen).toEqual(['live', 'live'])
  })

  it('publishes an upper rendition only while a member reads it, where nobody else does', async () => {
    const { ada, ben } = await pair(room, undefined, 'members')
    ada.session.publishTrack(picture)
    const { track } = ada.session.publishTrack({ ...picture, rendition: 1 })
    const seen = () => ben.session.members[0]?.catalogue.tracks.map(({ state }) => state)
    await until(seen).toEqual(['live', 'paused'])
    await ben.session.read([1, track.partition])
    await until(() => ada.session.members[0]?.catalogue.reads).toEqual([0, 1, track.partition])
    await until(seen).toEqual(['live', 'live'])
    await ben.session.read([1])
    await until(seen).toEqual(['live', 'paused'])
    // A recorder, which is no member.
    await ben.session.say(controlContent({ reads: [track.partition] }))
    await until(seen).toEqual(['live', 'live'])
  })

  it('is encrypted where its stream is', async () => {
    const { ada, ben } = await pair(secret)
    const voice = ada.session.publishTrack(sound)
    await until(() => ben.session.members[0]?.catalogue.tracks.length).toBe(1)
    await sendUntilGot(ben.got, 'audio', () => voice.send({ timestampUs: 0, data: Uint8Array.of(1) }))
    expect(await ben.client.keysOf(secret)).toMatchObject({ isEncrypted: true })
  })

  it('passes requests for key frames on, once a second at most', async () => {
    const { ada, ben } = await pair()
    let wanted = 0
    const { track } = ada.session.publishTrack(picture, { keyWanted: () => wanted++ })
    const [member] = ben.session.members
    for (let i = 0; i < 10; i++) ben.session.requestKey(member?.id ?? '', track.id)
    await until(() => wanted).toBe(1)
    ben.session.requestKey(member?.id ?? '', track.id + 1)
    ben.session.requestKey('nobody', track.id)
    await ben.session.say('after that')
    expect(wanted).toBe(1)
  })

  it('lets applications say other things in the stream', async () => {
    const { ada, ben } = await pair()
    const said: unknown[] = []
    ben.session.on('message', ({ content }) => said.push(content))
    await ada.session.say({ text: 'hello' })
    await until(() => said).toEqual([{ text: 'hello' }])
  })

  it('keeps members whose objects come, though they do not get to say that they are there', async () => {
    const clock = new VirtualClock()
    const [client, other] = [await clients.create(), await clients.create()]
    const session = await openSession(room, { name: 'Ben' }, { client, clock })
    sessions.push(session)
    let objects = 0
    session.on('object', () => objects++)
    const track = { ...sound, id: 1, partition: 0, state: 'live' } as const
    const catalogue = {
      version: 1,
      session: '0123456789abcdef',
      name: 'Ada',
      decodes: [],
      tracks: [track],
    } as const
    await other.publish(room, controlContent({ catalogue }), { partition: 0 })
    await until(() => namesOf(session)).toEqual(['Ada'])
    const data = Uint8Array.of(0, 1, 0, 0, 0, 0, 0, 0, 30, 1)
    for (let i = 1; i <= 3; i++) {
      clock.advanceBy(mediaLimits.memberTtlMs - 1_000)
      await until(async () => {
        await other.publish(room, data, { partition: 0, urgent: true })
        return objects
      }).toBeGreaterThanOrEqual(i)
      objects = i
    }
    expect(namesOf(session)).toEqual(['Ada'])
    clock.advanceBy(mediaLimits.memberTtlMs + mediaLimits.catalogueEveryMs)
    expect(namesOf(session)).toEqual([])
  })

  it('counts objects of who says nothing of itself, and what is none', async () => {
    const { ben } = await pair()
    const stranger = await clients.create({ privateKey: newAccount().privateKey })
    const malformed = () => ben.session.counters.objectsMalformed
    await until(async () => {
      await stranger.publish(room, new Uint8Array(3), { partition: 0, urgent: true })
      return malformed()
    }).toBeGreaterThan(0)
    const valid = Uint8Array.of(0, 1, 0, 0, 0, 0, 0, 0, 30, 1)
    await stranger.publish(room, valid, { partition: 0, urgent: true })
    await until(() => ben.session.counters.objectsUnknown).toBe(1)
    expect(ben.got).toEqual([])
  })

  it('does not get what it publishes itself', async () => {
    const { ada, ben } = await pair()
    const track = ada.session.publishTrack(sound)
    await sendUntilGot(ben.got, 'audio', () =>
      track.send({ timestampUs: 0, level: 30, data: Uint8Array.of(1) }),
    )
    expect(ada.got).toEqual([])
    expect(ada.session.counters.objectsUnknown).toBe(0)
  })

  it('shares a rate out: upper renditions pause first, then all pictures, and the others are told', async () => {
    const queue = { given: [] as number[], wake: () => {} }
    const { ada, ben } = await pair(room, ratesOf(queue))
    const told: number[][] = []
    ada.session.publishTrack(sound)
    for (const [rendition, bitrate] of [120_000, 500_000].entries())
      ada.session.publishTrack(
        { ...picture, rendition, bitrate, minBitsPerS: bitrate / 2 },
        { rate: (bitsPerS) => told.push([rendition, bitsPerS]) },
      )
    const states = () => ben.session.members[0]?.catalogue.tracks.map(({ state }) => state)
    const give = (bitsPerS: number) => {
      queue.given.push(bitsPerS)
      queue.wake()
    }
    give(400_000)
    await until(states).toEqual(['live', 'live', 'paused'])
    expect(told).toEqual([[1, 0]])
    give(50_000)
    await until(states).toEqual(['live', 'paused', 'paused'])
    give(2_000_000)
    await until(states).toEqual(['live', 'live', 'live'])
    expect(told.slice(-2)).toEqual([
      [0, 120_000],
      [1, 500_000],
    ])
  })

  it('shares the rate that was given last out anew when a track comes or goes', async () => {
    const taken = Promise.withResolvers<void>()
    async function* once() {
      yield 100_000
      taken.resolve()
      await new Promise<never>(() => {})
    }
    const { session } = await joinAs('Ada', room, undefined, once())
    await taken.promise
    const track = session.publishTrack({ ...picture, bitrate: 3_000_000, minBitsPerS: 60_000 })
    // 15 messages a second of it are for what messages take.
    expect(track.bitsPerS).toBe(76_000)
    const voice = session.publishTrack(sound)
    expect(track.track.state).toBe('paused')
    voice.close()
    expect(track.bitsPerS).toBe(76_000)
  })

  it('says what is wrong with a rate that fails, and goes on', async () => {
    const failure = Promise.withResolvers<number>()
    async function* failing() {
      yield await failure.promise
    }
    const { session } = await joinAs('Ada', room, undefined, failing())
    const faults: unknown[] = []
    session.on('fault', (error) => faults.push(error))
    const error = new Error('it broke')
    failure.reject(error)
    await until(() => faults).toEqual([error])
    expect(session.publishTrack(sound).track.state).toBe('live')
  })

  it('says which rates are none, and takes the others', async () => {
    const given = Promise.withResolvers<unknown>()
    async function* rates() {
      for (const rate of ['a', NaN, -5, await given.promise]) yield rate as number
    }
    const { session } = await joinAs('Ada', room, undefined, rates())
    const faults: unknown[] = []
    session.on('fault', (error) => faults.push(error))
    const track = session.publishTrack(picture)
    given.resolve(0)
    await until(() => track.bitsPerS).toBe(0)
    const gave = (what: string) => ({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining(`it gave ${what}`) as string,
    })
    expect(faults).toMatchObject([gave('something of type string'), gave('NaN'), gave('-5')])
  })

  it('follows what the network carries where no rate is given, and tries what pauses', async () => {
    const { ada, ben } = await pair()
    ada.session.publishTrack(sound)
    // More than a link is taken to carry of which nothing is known, and no frames that show that it does.
    const track = ada.session.publishTrack({ ...picture, bitrate: 3_000_000 })
    const state = () => ben.session.members[0]?.catalogue.tracks[1]?.state
    await until(state).toBe('live')
    await until(state).toBe('paused')
    expect(track.bitsPerS).toBe(0)
    await until(state).toBe('live')
    track.close()
    await until(() => ben.session.members[0]?.catalogue.tracks.length).toBe(1)
  })

  it('numbers nothing that builds on what was not sent', async () => {
    const { ada } = await pair()
    const track = ada.session.publishTrack(picture)
    const send = (isKey: boolean, bytes = 1) =>
      track.send({ timestampUs: 0, isKey, data: new Uint8Array(bytes) })
    for (const isKey of [false, true, false]) send(isKey)
    expect(track.counters).toMatchObject({ frames: 2, framesUnnumbered: 1, framesTooLarge: 0 })
    send(false, 255 * 1024)
    send(false)
    expect(track.counters).toMatchObject({ frames: 2, framesUnnumbered: 2, framesTooLarge: 1 })
    track.mute(true)
    send(true)
    track.mute(false)
    send(false)
    send(true)
    expect(track.counters).toMatchObject({ frames: 3, framesUnnumbered: 3 })
  })

  it('refuses what is no track, and one that is closed takes none', async () => {
    const { ada } = await pair()
    const { bitrate: _, ...without } = sound
    expect(() => ada.session.publishTrack(without)).toThrow('it has no bitrate')
    // Others would take nothing more that she says of herself.
    expect(() => ada.session.publishTrack({ ...picture, framerate: 0 })).toThrow('framerate must be')
    expect(() => ada.session.publishTrack({ ...sound, bitrate: -1 })).toThrow('bitrate must be')
    const asBigInt = 20n as unknown as number
    expect(() => ada.session.publishTrack({ ...sound, frameMs: asBigInt })).toThrow('frameMs must be')
    expect(() => ada.session.publishTrack({ ...picture, rendition: -1 })).toThrow('rendition must be')
    expect(() => ada.session.publishTrack({ ...picture, minBitsPerS: -1 })).toThrow('minBitsPerS must be')
    const placed = { ...picture, partition: 2 } as NewTrack
    expect(() => ada.session.publishTrack(placed)).toThrow('partition must be left out')
    const tracks = Array.from({ length: 16 }, () => ada.session.publishTrack(sound))
    expect(new Set(tracks.map(({ track }) => track.id)).size).toBe(16)
    expect(() => ada.session.publishTrack(sound)).toThrow('up to 16 tracks')
    await ada.session.close()
    expect(() => ada.session.publishTrack(sound)).toThrow('session is closed')
  })

  it('refuses events that there are not, and what is no frame', async () => {
    const { session } = await joinAs('Ada')
    const invalid = (code: string) => expect.objectContaining({ code }) as Error
    const events = [{ keyWantd() {} }, { keyWanted: 5 }, null] as never[]
    for (const one of events)
      expect(() => session.publishTrack(sound, one)).toThrow(invalid('OPTIONS_INVALID'))
    expect(() => session.on('objekt' as never, () => {})).toThrow(invalid('OPTIONS_INVALID'))
    for (const one of [undefined, 5] as never[])
      expect(() => session.publishTrack(one)).toThrow(invalid('TRACK_INVALID'))
    const track = session.publishTrack(sound)
    for (const frame of [
      undefined,
      {},
      { timestampUs: 0, data: 'x' },
      { data: new Uint8Array(1) },
    ] as never[])
      expect(() => track.send(frame)).toThrow(invalid('TRACK_INVALID'))
  })

  it('that is closed says and reads nothing more', async () => {
    const { session, client } = await joinAs('Ada')
    await session.close()
    const [publish, subscribe] = [vi.spyOn(client, 'publish'), vi.spyOn(client, 'subscribe')]
    await expect(session.say('hello')).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await expect(session.read([1])).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    expect(publish).not.toHaveBeenCalled()
    expect(subscribe).not.toHaveBeenCalled()
  })
})

/** How many pictures can be decoded. */
function decodable(got: readonly Got[]): number {
  const order = new FrameOrder()
  return got.flatMap(({ object, place }) =>
    object.kind === 'video' ? order.push({ ...object, ...place }, 0) : [],
  ).length
}

/** A file of pictures that build on the first one, four a second. */
function slowGroup(pictures: number): Uint8Array {
  const clip = readFileSync(join(vectors, 'clip-vp8.ivf'))
  const endOf = (start: number) => start + 12 + clip.readUInt32LE(start)
  const [second, third] = [endOf(32), endOf(endOf(32))]
  const frames = Array.from({ length: pictures - 1 }, (_, i) => {
    const frame = Buffer.from(clip.subarray(second, third))
    frame.writeBigUInt64LE(BigInt(250 * (i + 1)), 4)
    return frame
  })
  clip.writeUInt32LE(pictures, 24)
  return Buffer.concat([clip.subarray(0, second), ...frames])
}

describe('openSession', () => {
  it.each([
    { replaces: 'mine' },
    { replaces: '' },
    { decodes: Array<string>(17).fill('vp8') },
    { name: undefined as unknown as string },
    { rate: 5 as never },
  ])('refuses what others would refuse the whole catalogue for: %o', async (wrong) => {
    const client = await clients.create({ privateKey: newAccount().privateKey })
    const [name] = Object.keys(wrong)
    const opening = openSession(room, { name: 'Ada', ...wrong }, { client })
    await expect(opening).rejects.toMatchObject({
      code: 'SESSION_INVALID',
      message: expect.stringContaining(`: ${name} must be `) as string,
    })
  })

  it.each([undefined, {}, { clinet: 1 }])('refuses to open without a client: %o', async (modules) => {
    await expect(openSession(room, { name: 'Ada' }, modules as never)).rejects.toMatchObject({
      code: 'SESSION_INVALID',
      message: expect.stringContaining('must be { client }') as string,
    })
  })

  it('refuses to open without options', async () => {
    const client = await clients.create({ privateKey: newAccount().privateKey })
    const opening = openSession(room, undefined as never, { client })
    await expect(opening).rejects.toMatchObject({ code: 'OPTIONS_INVALID' })
  })

  it('refuses an option that there is not', async () => {
    const client = await clients.create({ privateKey: newAccount().privateKey })
    const misspelt = { name: 'Ada', decode: ['vp8'] }
    await expect(openSession(room, misspelt, { client })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('no option "decode"') as string,
    })
  })
})

it('a client has one session in a stream at a time', async () => {
  const client = await clients.create({ privateKey: newAccount().privateKey })
  const open = (stream: string) => openSession(stream, { name: 'Ada' }, { client })
  const [first, second] = await Promise.allSettled([open(room), open(room)])
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected'])
  await expect(open(room)).rejects.toMatchObject({
    code: 'SESSION_INVALID',
    message: expect.stringContaining(`this client has a session in ${room}; close that one first`) as string,
  })
  const elsewhere = await open(small)
  if (first.status === 'fulfilled') await first.value.close()
  const again = await open(room)
  await Promise.all([elsewhere.close(), again.close()])
})

it('a session that could not be opened takes no place', async () => {
  const client = await clients.create({ privateKey: newAccount().privateKey })
  const subscribe = vi.spyOn(client, 'subscribe').mockRejectedValueOnce(new Error('no more'))
  const open = () => openSession(room, { name: 'Ada' }, { client })
  await expect(open()).rejects.toThrow('no more')
  subscribe.mockRestore()
  await (await open()).close()
})

describe('files', () => {
  it('are published as they would be played', async () => {
    const { ada, ben } = await pair()
    const read = ben.session.read([1])
    await until(async () => {
      await read
      const call = new AbortController()
      const playing = Promise.all([
        publishOgg(ada.session, createReadStream(join(vectors, 'tone.opus')), { signal: call.signal }),
        publishIvf(ada.session, createReadStream(join(vectors, 'clip-vp9.ivf')), { signal: call.signal }),
      ])
      await playing
      // A busy machine is late with most of the first.
      return decodable(ben.got) > 5 && ben.got.some(({ object }) => object.kind === 'audio')
    }).toBe(true)
    const sounds = ben.got.flatMap(({ object }) => (object.kind === 'audio' ? [object] : []))
    expect(Math.min(...sounds.map(({ level }) => level))).toBeLessThan(20)
    expect(ada.session.members).toHaveLength(1)
  })

  it.each([
    ['sound', publishOgg, 'tone.opus'],
    ['pictures', publishIvf, 'clip-vp8.ivf'],
  ] as const)('reach who is there from the first frame of %s on', async (_, publish, file) => {
    const ben = await joinAs('Ben')
    await ben.session.read([1])
    const ada = await joinAs('Ada')
    await publish(ada.session, createReadStream(join(vectors, file)))
    await until(() => ben.got[0]?.place).toMatchObject({ group: 0, object: 0 })
  })

  it('reach who is linked first, and late, from the key frame before on', async () => {
    const ada = await joinAs('Ada')
    const call = new AbortController()
    const playing = publishIvf(ada.session, slowGroup(60), { signal: call.signal })
    await until(() => ada.client.network.metrics().counters['urgent.published'] ?? 0).toBeGreaterThan(2)
    const ben = await joinAs('Ben')
    await until(() => namesOf(ben.session)).toEqual(['Ada'])
    await ben.session.read([1])
    await until(() => decodable(ben.got)).toBeGreaterThan(4)
    call.abort()
    await playing
  })

  it.each([
    ['sound', publishOgg, 'tone.opus'],
    ['pictures', publishIvf, 'clip-vp8.ivf'],
  ] as const)('of %s are refused where the session is closed, and let go of', async (_, publish, file) => {
    const { session } = await joinAs('Ada')
    await session.close()
    const pieces = createReadStream(join(vectors, file))
    await expect(publish(session, pieces)).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    expect(pieces.destroyed).toBe(true)
  })

  it('end early when they are called off', async () => {
    const { ada } = await pair()
    const [signal, sounds] = [AbortSignal.abort(), createReadStream(join(vectors, 'tone.opus'))]
    await publishOgg(ada.session, sounds, { signal })
    expect(sounds.destroyed).toBe(true)
    await expect(publishIvf(ada.session, createReadStream(join(vectors, 'tone.opus')))).rejects.toMatchObject(
      { code: 'FILE_INVALID' },
    )
  })

  it.each([
    ['of the other kind', 'tone.opus', 'clip-vp8.ivf'],
    ['that are not there', 'none.opus', 'none.ivf'],
    ['without a byte', '/dev/null', '/dev/null'],
  ])('%s are refused, and let go of', async (_, sounds, pictures) => {
    const { ada } = await pair()
    // Each is opened when it is published: a stream that fails before somebody reads it ends the process.
    const ogg = createReadStream(resolve(vectors, pictures))
    await expect(publishOgg(ada.session, ogg)).rejects.toThrow()
    const ivf = createReadStream(resolve(vectors, sounds))
    await expect(publishIvf(ada.session, ivf)).rejects.toThrow()
    expect([ogg.destroyed, ivf.destroyed]).toEqual([true, true])
  })

  it('of sound may end with a shorter packet, as opusenc writes them, but have no other one', async () => {
    const file = readFileSync(join(vectors, 'ends-short.opus'))
    const { ada, ben } = await pair()
    await publishOgg(ada.session, file)
    const published = () => ada.client.network.metrics().counters['urgent.published']
    // Eight of 60 ms and one of 40, which is sent as it is.
    await until(published).toBe(9)
    await until(() => ben.got.length).toBe(9)
    expect(ben.got.map(({ object }) => opusDurationMs(object.data))).toEqual([
      ...Array<number>(8).fill(60),
      40,
    ])
    const again = file.subarray(file.lastIndexOf('OggS'))
    await expect(publishOgg(ada.session, 'voice.opus' as never)).rejects.toThrow('it is of type string')
    const twice = publishOgg(ada.session, Readable.from([file, again]))
    await expect(twice).rejects.toMatchObject({
      code: 'FILE_INVALID',
      message: expect.stringContaining(
        'a packet of 40 ms among packets of 60 ms: only the last may be shorter',
      ) as string,
    })
  })

  it('of sound that are joined follow each other', async () => {
    const [long, short] = ['ends-short.opus', 'tone.opus'].map((name) => readFileSync(join(vectors, name)))
    const { ada, ben } = await pair()
    await publishOgg(ada.session, Readable.from([long, long]))
    await until(() => ben.got.length).toBe(18)
    const durations = [...Array<number>(8).fill(60), 40]
    expect(ben.got.map(({ object }) => opusDurationMs(object.data))).toEqual([...durations, ...durations])
    await expect(publishOgg(ada.session, Readable.from([long, short]))).rejects.toMatchObject({
      code: 'FILE_INVALID',
      message: expect.stringContaining(
        'a file with packets of 20 ms is joined to one with packets of 60 ms: publish them one after the other',
      ) as string,
    })
  })

  it('go on at once after a time that is none', async () => {
    const { ada } = await pair()
    const clip = readFileSync(join(vectors, 'clip-vp8.ivf'))
    const second = 32 + 12 + clip.readUInt32LE(32) + 4
    clip.writeBigUInt64LE(2n ** 40n, second)
    await publishIvf(ada.session, Readable.from([clip]))
  })

  it('without a frame are refused, and not announced', async () => {
    const { session } = await joinAs('Ada')
    const announced = vi.spyOn(session, 'publishTrack')
    const head = readFileSync(join(vectors, 'clip-vp8.ivf')).subarray(0, 32)
    await expect(publishIvf(session, head)).rejects.toMatchObject({ code: 'FILE_INVALID' })
    expect(announced).not.toHaveBeenCalled()
  })

  it('end when their session is closed', async () => {
    const { ada } = await pair()
    async function* endless() {
      for (;;) yield await readFile(join(vectors, 'tone.opus'))
    }
    const playing = publishOgg(ada.session, endless())
    await until(() => ada.client.network.metrics().counters['urgent.published']).toBeGreaterThan(0)
    await ada.session.close()
    await playing
  })

  describe.each([
    ['sound', publishOgg, 'tone.opus', 26],
    ['pictures', publishIvf, 'clip-vp8.ivf', 12],
  ] as const)('of %s, in a pipe that stands still', (_, publish, file, frames) => {
    const bytes = readFileSync(join(vectors, file))
    it.each([
      ['before its first byte', [], 0],
      ['within a frame', [bytes, bytes.subarray(0, 5)], frames],
    ] as const)('end with their session and when they are called off: %s', async (_, parts, played) => {
      for (const how of ['session', 'signal'] as const) {
        const ada = await joinAs('Ada')
        const [cat, call] = [spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] }), new AbortController()]
        for (const part of parts) cat.stdin.write(part)
        const playing = publish(ada.session, cat.stdout, { signal: call.signal })
        await until(() => ada.client.network.metrics().counters['urgent.published'] ?? 0).toBe(played)
        if (how === 'session') await ada.session.close()
        else call.abort()
        await playing
        expect(cat.stdout.destroyed).toBe(true)
        cat.kill()
      }
    })
  })
})
