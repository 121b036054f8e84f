/// <reference lib="dom" />
import { getEventListeners } from 'node:events'
import { afterEach, expect, it, vi } from 'vitest'
import { picturesOf } from './media-streams.ts'

const stop = new AbortController()
const track = Object.assign(new EventTarget(), { readyState: 'live' })
const listeners = () => [getEventListeners(stop.signal, 'abort'), getEventListeners(track, 'ended')].flat()

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

afterEach(() => void vi.unstubAllGlobals())

it('takes pictures from an element with as many listeners for the last as for the first, and ends when it is called off', async () => {
  vi.stubGlobal('document', { createElement: () => new Video() })
  vi.stubGlobal('MediaStream', class {})
  vi.stubGlobal('VideoFrame', class {})
  const counts = new Set<number>()
  const pictures: VideoFrame[] = []
  for await (const picture of picturesOf(track as unknown as MediaStreamTrack, stop.signal)) {
    counts.add(listeners().length)
    pictures.push(picture)
  }
  expect([pictures.length, [...counts], listeners()]).toEqual([100, [2], []])
})
