import { randomBytes } from 'node:crypto'
import type { StaticNetwork } from '@runnel/client'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startTracker } from '../../../browser/src/network.testkit.ts'
import { mediaLimits } from '../limits.ts'
import { MediaPages, type MediaPage } from './pages.testkit.ts'

const owner = `0x${'a'.repeat(40)}`
const streamId = `${owner}/room`
const single = `${owner}/single`
let tracker: Tracker
let pages: MediaPages
let network: { readonly kind: 'static'; readonly document: StaticNetwork }
const opened: MediaPage[] = []

beforeAll(async () => {
  tracker = await startTracker()
  const permissions = [{ user: 'public' as const, publish: true, subscribe: true }]
  const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
  const streams = [
    { id: streamId, partitions: 4, permissions },
    { id: single, permissions },
  ]
  network = { kind: 'static', document: { version: 1, trackers, streams } }
  pages = await MediaPages.start()
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ page }) => page.context().close()))
})
afterAll(async () => {
  await pages.close()
  await tracker.stop()
})

const until = <T>(isSo: () => Promise<T>) => expect.poll(isSo, { timeout: 60_000, interval: 100 })

async function open(
  name: string,
  stream = streamId,
  codecs?: readonly string[],
  path?: '/no-wasm',
): Promise<MediaPage> {
  const page = await pages.open(path)
  opened.push(page)
  await page.call('open', { network }, stream, name, codecs)
  return page
}

/** A page that publishes the time and one that reads it. */
async function pair(stream = streamId, codecs?: readonly string[]) {
  const [from, to] = [await open('Ada', stream), await open('Ben', stream, codecs)]
  await from.call('publishClock')
  // Below the lifetime and what is waited for: nothing older is painted.
  await until(() => to.call('ageOfPicture')).toBeLessThan(10_000)
  return { from, to }
}

const codecOf = async (page: MediaPage) =>
  new Set((await page.call('members')).flatMap(({ catalogue }) => catalogue.tracks.map(({ codec }) => codec)))

describe('pages', () => {
  it.each([
    ['VP9', 'vp09.00.10.08', streamId],
    ['VP8', 'vp8', streamId],
    ['H.264', 'avc1.42e01f', streamId],
    ['AV1', 'av01.0.01M.08', streamId],
    ['VP9, with all tracks in one partition,', 'vp09.00.10.08', single],
  ])('paint in %s what another one publishes, picture after picture', async (_, codec, stream) => {
    const { from, to } = await pair(stream, [codec])
    expect(await codecOf(to)).toEqual(new Set([codec]))
    const seen = new Set<number>()
    await until(async () => {
      const age = await to.call('ageOfPicture')
      if (age !== undefined) seen.add(Date.now() - age)
      return seen.size
    }).toBeGreaterThan(5)
    expect(await from.call('counters')).toMatchObject({ faults: [], objectsMalformed: 0 })
  })

  it('go up to the larger rendition, and down where it is of no use', async () => {
    const { to } = await pair()
    await until(() => to.call('heightOfPicture')).toBe(180)
    await until(() => to.call('heightOfPicture')).toBe(360)
    await to.call('limitRendition', 0)
    await until(() => to.call('heightOfPicture')).toBe(180)
    await until(() => to.call('ageOfPicture')).toBeLessThan(10_000)
  })

  it('follow a rate: the upper rendition pauses, then all pictures, and come back', async () => {
    const { from, to } = await pair()
    const states = async () => (await to.call('members'))[0]?.catalogue.tracks.map(({ state }) => state)
    await from.call('useRate', 250_000)
    await until(states).toEqual(['live', 'paused'])
    expect(await from.call('isVideoPaused')).toBe(false)
    await from.call('useRate', 50_000)
    await until(states).toEqual(['paused', 'paused'])
    expect(await from.call('isVideoPaused')).toBe(true)
    const painted = async () => (await to.call('report'))?.[0]?.painted ?? 0
    await from.call('useRate', 2_000_000)
    await until(states).toEqual(['live', 'live'])
    const before = await painted()
    await until(painted).toBeGreaterThan(before + 5)
  })

  it('change to a codec that somebody who comes later can decode', async () => {
    const { from, to } = await pair()
    expect(await codecOf(to)).toEqual(new Set(['vp09.00.10.08']))
    const late = await open('Carla', streamId, ['vp8'])
    await until(() => codecOf(late)).toEqual(new Set(['vp8']))
    await until(() => late.call('ageOfPicture')).toBeLessThan(10_000)
    const painted = async () => (await to.call('report'))?.[0]?.painted ?? 0
    const before = await painted()
    await until(painted).toBeGreaterThan(before + 5)
    expect((await from.call('counters')).faults).toEqual([])
  })

  it('see a screen on which nothing moves, whenever they come, in its shape, beside the camera, until it is shared no longer; then a file, until it is closed', async () => {
    const ada = await open('Ada')
    const shared = await pages.open('/', ada)
    const timeMs = 1_234_567_890_123
    await shared.call('showStill', timeMs)
    expect(await ada.call('publishScreen')).toMatchObject({ noiseSuppression: false })
    // Nobody was there yet to see its only picture.
    const ben = await open('Ben')
    await until(() => ben.call('screen')).toEqual({ width: 1_280, height: 720, timeMs })
    await ada.call('publishClock')
    await until(() => ben.call('ageOfPicture')).toBeLessThan(10_000)
    await shared.page.setViewportSize({ width: 600, height: 900 })
    await until(() => ben.call('screen')).toEqual({ width: 480, height: 720, timeMs })
    const widths = async () =>
      (await ben.call('members')).flatMap(({ catalogue }) =>
        catalogue.tracks.flatMap((track) => (track.kind === 'video' ? [track.codedWidth] : [])),
      )
    await until(widths).toEqual([480, 320, 640])
    await shared.page.close()
    await until(() => ben.call('screen')).toBeUndefined()
    const painted = async () => (await ben.call('report'))?.[0]?.painted ?? 0
    const before = await painted()
    await until(painted).toBeGreaterThan(before + 5)
    await ada.call('publishFile')
    await until(widths).toEqual([320, 640, 320, 640])
    expect(await ada.call('closeFile')).toBe(true)
    await until(widths).toEqual([320, 640])
    expect((await ada.call('counters')).faults).toEqual([])
  })

  it('hear a microphone, and know who speaks', async () => {
    const [from, to] = [await open('Ada'), await open('Ben')]
    await from.call('publishDevices')
    await until(() => to.call('speaker')).toBe('Ada')
    await until(() => to.call('loudness')).toBeGreaterThan(0.01)
    const report = async () => (await to.call('report'))?.[0]
    await until(async () => (await report())?.painted).toBeGreaterThan(5)
    expect((await report())?.delayMs).toBeLessThanOrEqual(mediaLimits.maxJitterDelayMs + 100)
    await from.call('muteVideo', true)
    const tracks = async () =>
      (await to.call('members'))[0]?.catalogue.tracks.map(({ kind, state }) => [kind, state])
    await until(tracks).toEqual([
      ['video', 'muted'],
      ['video', 'muted'],
      ['audio', 'live'],
    ])
  })

  it('say why nobody is heard where WebAssembly is forbidden, and show pictures', async () => {
    const from = await open('Ada')
    const to = await open('Ben', streamId, undefined, '/no-wasm')
    await from.call('publishDevices')
    await until(async () => (await to.call('report'))?.[0]?.painted).toBeGreaterThan(5)
    await until(async () => (await to.call('counters')).faults).toEqual([
      expect.stringContaining('This page may not encode or play sound'),
    ])
    await expect(to.call('publishMicrophone')).rejects.toThrow('This page may not encode or play sound')
  })

  it('go on when somebody publishes pictures that are none', async () => {
    const { from, to } = await pair()
    const failures = async () => (await to.call('failures')) ?? 0
    await from.call('publishNoise', Array.from(randomBytes(2_000)))
    await until(failures).toBeGreaterThan(0)
    const painted = async () => (await to.call('report'))?.[0]?.painted ?? 0
    const before = await painted()
    await until(painted).toBeGreaterThan(before + 5)
  })

  it('have no error that nobody was told', () => {
    expect(pages.errors).toEqual([])
  })
})
