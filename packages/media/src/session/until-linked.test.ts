import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { RunnelClient, UrgentRate } from '@runnel/client'
import { expect, it } from 'vitest'
import { VirtualClock } from '../../../transport/src/memory/virtual-clock.ts'
import { decodeObject } from '../core/media-object.ts'
import { publishIvf, publishOgg } from '../files/publish-files.ts'
import { MediaSession } from './media-session.ts'
import type { NewTrack } from './new-track.ts'
import type { MediaSessionModules } from './session-options.ts'

const vectors = join(import.meta.dirname, '../../vectors')
const kbitPerS = 100
const clip: NewTrack = {
  ...{ kind: 'video', source: 'file', codec: 'vp8', codedWidth: 320, codedHeight: 180, framerate: 15 },
  ...{ bitrate: 500_000, altGroup: 0 },
}

const sound: NewTrack = {
  ...{ kind: 'audio', source: 'file', codec: 'opus', sampleRate: 48_000, numberOfChannels: 1, frameMs: 20 },
  bitrate: 32_000,
}

/** Rates of partitions: with a link in that of sound, and in others only from `link` on, until `unlink`. */
class Rates {
  readonly #listeners: ((kbitPerS: number | undefined) => void)[] = []

  open(partition = 0): UrgentRate {
    const listeners = this.#listeners
    const rate = {
      kbitPerS: partition === 0 ? kbitPerS : undefined,
      on: (_: 'rate', listener: (kbitPerS: number | undefined) => void) =>
        void (partition > 0 && listeners.push(listener)),
      close() {},
      [Symbol.dispose]() {},
    }
    return rate as unknown as UrgentRate
  }

  link(): void {
    for (const listener of this.#listeners) listener(kbitPerS)
  }

  unlink(): void {
    for (const listener of this.#listeners) listener(undefined)
  }
}

/** A session whose client is a stub, on a virtual clock. `firstUs`: the timestamp of the first frame in each partition. */
async function setUp(publish = async () => ({ neighbours: 1 })) {
  const [clock, rates, firstUs] = [new VirtualClock(), new Rates(), new Map<number, number>()]
  const client: Partial<Record<keyof RunnelClient, unknown>> = {
    prepare: async () => ({ send() {} }),
    subscribe: async () => ({ unsubscribe: async () => {} }),
    urgentRate: async (_: string, { partition }: { partition: number }) => rates.open(partition),
    publish: (_: string, content: unknown, { partition }: { partition: number }) => {
      const object = content instanceof Uint8Array ? decodeObject(content) : undefined
      if (object === undefined) return publish()
      if (!firstUs.has(partition)) firstUs.set(partition, object.timestampUs)
      return Promise.resolve({ neighbours: 1 })
    },
  }
  const modules = { client: client as MediaSessionModules['client'], clock }
  const session = new MediaSession('0x00/room', { name: 'Ada', partitions: 4 }, modules)
  await session.start()
  return { session, clock, rates, firstUs }
}

/** Lets what was promised happen, each time that so much has passed. */
async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 50) {
    clock.advanceBy(50)
    await new Promise(setImmediate)
  }
}

it('lets files that are published together begin together, though nobody reads the pictures', async () => {
  const { session, clock, firstUs } = await setUp()
  const playing = Promise.all([
    publishOgg(session, createReadStream(join(vectors, 'tone.opus')), { clock }),
    publishIvf(session, createReadStream(join(vectors, 'clip-vp8.ivf')), { clock }),
  ])
  await expect.poll(async () => (await pass(clock, 50), firstUs.size), { timeout: 20_000 }).toBe(2)
  const [soundUs = NaN, picturesUs = NaN] = [firstUs.get(0), firstUs.get(1)]
  expect(Math.abs(soundUs - picturesUs)).toBeLessThan(100_000)
  await session.close()
  await playing
})

it.each([
  ['soon', 900],
  ['late', 6_000],
])('tries a rate from the link on, and not from before it, where that opens %s', async (_, linkMs) => {
  const { session, clock, rates } = await setUp()
  const publisher = session.publishTrack(clip)
  const linked = session.linked(1)
  await pass(clock, linkMs)
  rates.link()
  await pass(clock, 300)
  await linked
  // A trial takes 3 s.
  await pass(clock, 2_500)
  expect(publisher.track.state).toBe('live')
  await pass(clock, 1_000)
  expect(publisher.track.state).toBe('paused')
  await session.close()
})

it('tries a rate no more often where links come and go', async () => {
  const { session, clock, rates } = await setUp()
  session.publishTrack(sound)
  const publisher = session.publishTrack(clip)
  await pass(clock, 5_000)
  rates.link()
  await pass(clock, 2_900)
  expect(publisher.track.state).toBe('live')
  await pass(clock, 200)
  for (let i = 0; i < 5; i++) {
    expect(publisher.track.state).toBe('paused')
    rates.unlink()
    rates.link()
  }
  await session.close()
})

it('waits no longer where nothing is heard of what was sent', async () => {
  const { session, clock } = await setUp(() => new Promise(() => {}))
  session.publishTrack(clip)
  let isLinked = false
  void session.linked(1).then(() => (isLinked = true))
  await pass(clock, 1_200)
  expect(isLinked).toBe(false)
  await pass(clock, 100)
  expect(isLinked).toBe(true)
  session.leave()
})
