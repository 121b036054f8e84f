/// <reference lib="dom" />
import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { picturesOf } from './media-streams.ts'

let stop = new AbortController()
const track = Object.assign(new EventTarget(), { readyState: 'live' })
const listeners = () => [getEventListeners(stop.signal, 'abort'), getEventListeners(track, 'ended')].flat()
const pictures = () => picturesOf(track as unknown as MediaStreamTrack, stop.signal)

/** A video element that has the next picture at once, until it has none any more. */
class Video {
  static left = 100
  srcObject: unknown
  play = () => Promise.resolve()
  cancelVideoFrameCallback = () => {}
  requestVideoFrameCallback = (shown: () => void): number => {
    if (Video.left-- > 0) queueMicrotask(shown)
    else queueMicrotask(() => stop.abort())
    return 1
  }
}

/** One whose pictures are not drawn. */
class UndrawnVideo extends Video {
  override requestVideoFrameCallback = (): number => 1
}

const show = (hidden: boolean, createElement: () => Video): unknown =>
  vi.stubGlobal('document', { hidden, createElement })

beforeEach(() => {
  stop = new AbortController()
  vi.stubGlobal('MediaStream', class {})
  vi.stubGlobal('VideoFrame', class {})
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('takes pictures from an element with as many listeners for the last as for the first, and ends when it is called off', async () => {
  show(false, () => new Video())
  const counts = new Set<number>()
  const taken: VideoFrame[] = []
  for await (const picture of pictures()) {
    counts.add(listeners().length)
    taken.push(picture)
  }
  expect([taken.length, [...counts], listeners()]).toEqual([100, [2], []])
})

it('takes pictures also while nobody sees the page, which is told of none then', async () => {
  vi.useFakeTimers()
  show(true, () => new UndrawnVideo())
  const taking = pictures()
  for (let n = 0; n < 3; n++) {
    const next = taking.next()
    await vi.advanceTimersByTimeAsync(1_000)
    expect((await next).done).toBe(false)
  }
})

it('takes each picture once while somebody sees the page', async () => {
  vi.useFakeTimers()
  show(false, () => new UndrawnVideo())
  const next = pictures().next()
  await vi.advanceTimersByTimeAsync(10_000)
  stop.abort()
  expect((await next).done).toBe(true)
})
