import { toStreamId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'
import { startStorage, type TestStorage } from '../../../browser/src/storage.testkit.ts'
import { Clients, newAccount, startTracker } from '../../../client/src/client.testkit.ts'
import { encodeObject } from '../core/media-object.ts'
import { openRecording } from './open-recording.ts'
import type { RecordedObject } from './recording.ts'
import { recordSession } from './session-recorder.ts'

const [owner, keeper] = [newAccount(), newAccount()]
const streamOf = (path: string) => toStreamId(`${owner.nodeId}/${path}`)
const streamsOf = (what: string) => [streamOf(`${what}-meeting`), streamOf(`${what}-recording`)] as const

let tracker: Tracker
let storage: TestStorage
let clients: Clients

beforeAll(async () => {
  const port = await freePort()
  tracker = await startTracker()
  const storageNodes = [{ nodeId: keeper.nodeId, url: `ws://127.0.0.1:${port}` }]
  const streamsFor = (what: string, user: string) =>
    streamsOf(what).map((id, i) => ({
      ...{ id, partitions: i + 1, storageNodes },
      permissions: [{ user, publish: true, subscribe: true }],
    }))
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [...streamsFor('open', 'public'), ...streamsFor('encrypted', owner.nodeId)],
  }
  const network = { kind: 'static' as const, document }
  storage = await startStorage({ network, privateKey: keeper.privateKey }, { port })
  clients = new Clients({ network })
})
afterAll(async () => {
  await clients.closeAll()
  await storage.stop()
  await tracker.stop()
})

const until = <T>(isSo: () => T) => expect.poll(isSo, { timeout: 30_000 })
const frame = (timestampUs: number) =>
  encodeObject({ kind: 'audio', track: 1, timestampUs, level: 0, data: new Uint8Array(20) })

it.each(['open', 'encrypted'])(
  'a recording of %s streams ends with the last frame that its recorder stored',
  async (what) => {
    const [meeting, recording] = streamsOf(what)
    const { privateKey } = owner
    const [speaker, vanishing, reader] = [
      await clients.create({ privateKey }),
      await clients.create({ privateKey }),
      await clients.create({ privateKey }),
    ]
    const recorder = await recordSession(meeting, recording, {}, { client: vanishing })
    let said = 0
    await until(async () => {
      await speaker.publish(meeting, frame(20_000 * said), { urgent: { lifetimeMs: 5_000, group: said++ } })
      return recorder.counters.recorded
    }).toBeGreaterThan(5)
    // It says nothing more, though what it has is stored.
    await vanishing.close()
    const { recorded, failed } = recorder.counters
    expect(failed).toBe(0)
    const read: RecordedObject[] = []
    await until(async () => {
      const opened = await openRecording(recording, {}, { client: reader })
      read.splice(0)
      for await (const object of opened.read()) read.push(object)
      return [read.length, opened.range.toMs - (read.at(-1)?.recordedMs ?? 0)]
    }).toEqual([recorded, 0])
  },
)
