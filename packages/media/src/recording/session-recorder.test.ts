import { toStreamId, type StreamId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { Clients, newAccount, startTracker } from '../../../client/src/client.testkit.ts'
import { VirtualClock } from '../../../transport/src/memory/virtual-clock.ts'
import { controlContent, parseControl } from '../catalogue/catalogue.ts'
import { mediaLimits } from '../limits.ts'
import { ada, picture } from './members.testkit.ts'
import { notePartition } from './partitions.ts'
import { parseNote } from './recording-note.ts'
import { recordSession } from './session-recorder.ts'

const owner = newAccount()
const meeting = toStreamId(`${owner.nodeId}/meeting`)
const recording = toStreamId(`${owner.nodeId}/recording`)
const [secret, kept, always] = ['secret', 'kept', 'always'].map((path) =>
  toStreamId(`${owner.nodeId}/${path}`),
) as [StreamId, StreamId, StreamId]

let tracker: Tracker
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  const owners = [{ user: owner.nodeId, publish: true, subscribe: true }]
  // Nobody listens there: what counts is that it is assigned.
  const storageNodes = [{ nodeId: newAccount().nodeId, url: 'ws://127.0.0.1:1' }]
  const permissions = [{ user: 'public' as const, publish: true, subscribe: true }]
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      { id: meeting, permissions, storageNodes },
      { id: recording, partitions: 2, permissions, storageNodes },
      { id: secret, permissions: owners },
      { id: kept, permissions: owners, storageNodes },
      { id: always, permissions, metadata: '{"encryption":{"content":"always"}}' },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(() => tracker.stop())

const until = <T>(isSo: () => T) => expect.poll(isSo, { timeout: 30_000 })

it('hears the goodbye of a page that is closed, which may be the urgent one alone', async () => {
  const [client, page] = [
    await clients.create({ privateKey: newAccount().privateKey }),
    await clients.create({ privateKey: newAccount().privateKey }),
  ]
  const clock = new VirtualClock()
  const recorder = await recordSession(meeting, recording, {}, { client, clock })
  // Behind the recorder's own: what this has had, that has, too.
  let heard = 0
  await client.subscribe(meeting, { urgent: true }, ({ publisherId }) => {
    if (publisherId === page.userId) heard++
  })
  const there: (readonly string[])[] = []
  await client.subscribe(recording, { partitions: [notePartition] }, ({ content }) => {
    const change = parseNote(content)?.change
    if (change !== undefined) there.push(change.members.map(({ catalogue }) => catalogue.name))
  })
  await page.publish(meeting, controlContent({ catalogue: ada.catalogue }))
  await until(() => heard).toBe(1)
  clock.advanceBy(mediaLimits.noteEveryMs)
  await until(() => there).toEqual([['ada']])
  const leave = controlContent({ leave: true, session: ada.catalogue.session })
  await page.publish(meeting, leave, { urgent: { lifetimeMs: 2_000, priority: 0 } })
  await until(() => heard).toBe(2)
  clock.advanceBy(mediaLimits.noteEveryMs)
  await until(() => there).toEqual([['ada'], []])
  await recorder.stop()
})

it('says again and again what it reads, so that members publish all of it', async () => {
  const [client, page] = [
    await clients.create({ privateKey: newAccount().privateKey }),
    await clients.create({ privateKey: newAccount().privateKey }),
  ]
  const reads: (readonly number[])[] = []
  await page.subscribe(meeting, {}, ({ content }) => {
    const control = parseControl(content)
    if (control !== undefined && 'reads' in control) reads.push(control.reads)
  })
  const clock = new VirtualClock()
  const recorder = await recordSession(meeting, recording, {}, { client, clock })
  const { partitions } = await client.getStream(meeting)
  const all = Array.from({ length: partitions }, (_, partition) => partition)
  await until(() => reads).toEqual([all])
  clock.advanceBy(mediaLimits.noteEveryMs)
  await until(() => reads).toEqual([all, all])
  await recorder.stop()
})

it('writes a note before a track goes that is in none', async () => {
  const [client, page] = [
    await clients.create({ privateKey: newAccount().privateKey }),
    await clients.create({ privateKey: newAccount().privateKey }),
  ]
  // The clock stands still: no regular note comes.
  const recorder = await recordSession(meeting, recording, {}, { client, clock: new VirtualClock() })
  const tracks: number[] = []
  await client.subscribe(recording, { partitions: [notePartition] }, ({ content }) => {
    const members = parseNote(content)?.change?.members ?? []
    tracks.push(...members.map(({ catalogue }) => catalogue.tracks.length))
  })
  await page.publish(meeting, controlContent({ catalogue: ada.catalogue }))
  await page.publish(meeting, controlContent({ catalogue: { ...ada.catalogue, tracks: [] } }))
  await until(() => tracks).toEqual([1])
  await recorder.stop()
  await until(() => tracks).toEqual([1, 0])
})

it('says which of its notes is the last', async () => {
  const client = await clients.create({ privateKey: newAccount().privateKey })
  const clock = new VirtualClock()
  const isLast: (boolean | undefined)[] = []
  await client.subscribe(recording, { partitions: [notePartition] }, ({ content }) => {
    const note = parseNote(content)
    if (note !== undefined) isLast.push(note.isLast)
  })
  const recorder = await recordSession(meeting, recording, {}, { client, clock })
  clock.advanceBy(mediaLimits.noteEveryMs)
  await until(() => isLast).toEqual([undefined, undefined])
  await recorder.stop()
  await until(() => isLast).toEqual([undefined, undefined, true])
})

it('asks for key frames of who announces more and more no more often than for those of others', async () => {
  const [client, page] = [
    await clients.create({ privateKey: newAccount().privateKey }),
    await clients.create({ privateKey: newAccount().privateKey }),
  ]
  const clock = new VirtualClock()
  const recorder = await recordSession(meeting, recording, {}, { client, clock })
  let [heard, asked] = [0, 0]
  // Behind the recorder's own: what this has had, that has, too.
  await client.subscribe(meeting, { urgent: true }, ({ publisherId }) => {
    if (publisherId === page.userId) heard++
  })
  await page.subscribe(meeting, {}, ({ content }) => {
    const control = parseControl(content)
    if (control !== undefined && 'key' in control) asked++
  })
  const tracks = Array.from({ length: mediaLimits.maxTracks }, (_, id) => ({ ...picture, id }))
  const announce = async (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      const session = `${i}`.padStart(16, '0')
      await page.publish(meeting, controlContent({ catalogue: { ...ada.catalogue, session, tracks } }))
    }
    await until(() => heard).toBe(to)
  }
  await announce(0, 5)
  clock.advanceBy(mediaLimits.keyRequestEveryMs)
  await announce(5, 10)
  await client.publish(meeting, 'after that')
  await until(() => asked).toBe(2 * mediaLimits.maxTracks)
  await recorder.stop()
})

it('records nothing more where one of its partitions could not be recorded', async () => {
  const client = await clients.create({ privateKey: newAccount().privateKey })
  const begun: string[] = []
  let asked = 0
  const record: typeof client.record = async (...args) => {
    if (asked++ > 0) throw new Error('no more')
    const one = await client.record(...args)
    const stop = one.stop.bind(one)
    begun.push('recording')
    one.stop = () => (begun.push('stopped'), stop())
    return one
  }
  const { getStream, subscribe, publish } = client
  const others = {
    getStream: getStream.bind(client),
    subscribe: subscribe.bind(client),
    publish: publish.bind(client),
  }
  const modules = { client: { ...others, record } }
  await expect(recordSession(recording, meeting, {}, modules)).rejects.toThrow('no more')
  expect(begun).toEqual(['recording', 'stopped'])
})

it.each([
  ['that its permissions encrypt', () => secret],
  ['that is always encrypted', () => always],
])('does not record a stream %s whose keys no storage node keeps', async (_, stream) => {
  const client = await clients.create({ privateKey: owner.privateKey })
  await expect(recordSession(stream(), recording, {}, { client })).rejects.toMatchObject({
    code: 'RECORDING_UNREADABLE',
    message: expect.stringContaining(stream()) as string,
  })
})

it('records an encrypted stream whose keys a storage node keeps', async () => {
  const client = await clients.create({ privateKey: owner.privateKey })
  const recorder = await recordSession(kept, recording, {}, { client })
  await recorder.stop()
})
