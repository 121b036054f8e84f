/// <reference lib="dom" />
import { afterEach, expect, it, vi } from 'vitest'
import { picture } from '../recording/members.testkit.ts'
import { TrackPublisher } from '../session/track-publisher.ts'
import { VideoRendition } from './video-rendition.ts'

const given: VideoEncoderConfig[] = []
const encoded: VideoFrame[] = []
let failNewest: VideoEncoderInit['error']
let give: VideoEncoderInit['output']

/** An encoder that encodes nothing. */
class Encoder {
  encodeQueueSize = 0
  encode = (frame: VideoFrame) => void encoded.push(frame)
  static isConfigSupported = () => Promise.resolve({ supported: true })
  state = 'unconfigured'

  constructor({ error, output }: VideoEncoderInit) {
    give = output
    failNewest = (reason) => {
      this.state = 'closed'
      error(reason)
    }
  }

  configure(config: VideoEncoderConfig): void {
    this.state = 'configured'
    given.push(config)
  }

  close(): void {
    this.state = 'closed'
  }
}

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  given.length = 0
  encoded.length = 0
})

/** A rendition in VP8, and its track. */
function renditionOf(onFault: (error: unknown) => void) {
  vi.stubGlobal('VideoEncoder', Encoder)
  const bitrate = 500_000
  const options = { height: 360, framerate: 30, bitrate, minBitsPerS: 1 }
  const rendition = new VideoRendition(options, { width: 640, height: 360 }, onFault)
  const publisher = new TrackPublisher(
    picture,
    {
      plan: { minBitsPerS: 1, maxBitsPerS: bitrate, framesPerS: 30 },
      rendition: 0,
      events: { rate: (bitsPerS) => rendition.useRate(bitsPerS) },
    },
    {
      ...{ publish: () => {}, changed: () => {}, closed: () => {} },
      ...{ nextGroup: () => 0, isAlone: () => true, monotonicMs: () => 0 },
    },
  )
  rendition.publisher = publisher
  return { rendition, publisher }
}

it('tries an encoder that fails again and again no more often than once a second', async () => {
  vi.useFakeTimers()
  vi.stubGlobal(
    'VideoFrame',
    class {
      close = () => {}
    },
  )
  const { rendition } = renditionOf(() => {})
  const frame = { displayWidth: 640, displayHeight: 360 } as VideoFrame
  await rendition.useCodec('vp8')
  let failed = 0
  for (let i = 0; i < 90; i++) {
    // Each encoder fails once.
    for (; failed < given.length; failed++) failNewest(new DOMException('it failed'))
    await vi.advanceTimersByTimeAsync(33)
    rendition.encode(frame, i * 33_000)
  }
  // The first, its replacement, and those of three seconds.
  expect(given.length).toBeGreaterThanOrEqual(4)
  expect(given.length).toBeLessThanOrEqual(5)
})

it('encodes with the rate that was told last: from the beginning, in another codec, after a failure', async () => {
  const faults: unknown[] = []
  const { rendition, publisher } = renditionOf((error) => faults.push(error))
  publisher.useRate(260_000)
  await rendition.useCodec('vp8')
  publisher.useRate(270_000)
  await rendition.useCodec('av1')
  publisher.useRate(280_000)
  failNewest(new DOMException('it failed'))
  expect(given.map(({ codec, bitrate: bitsPerS }) => [codec, bitsPerS])).toEqual([
    ['vp8', 260_000],
    ['vp8', 270_000],
    ['av1', 270_000],
    ['av1', 280_000],
    ['av1', 280_000],
  ])
  expect(faults).toHaveLength(1)
})

it('turns the pictures of a phone, and gives each whole to an encoder of its shape', async () => {
  vi.stubGlobal(
    'OffscreenCanvas',
    class {
      readonly getContext = () => undefined
      width: number
      height: number
      constructor(width: number, height: number) {
        ;[this.width, this.height] = [width, height]
      }
    },
  )
  vi.stubGlobal(
    'VideoFrame',
    class {
      readonly displayWidth: number
      readonly displayHeight: number
      close = () => {}
      constructor({ width, height }: OffscreenCanvas) {
        ;[this.displayWidth, this.displayHeight] = [width, height]
      }
    },
  )
  const { rendition } = renditionOf(() => {})
  await rendition.useCodec('vp8')
  const turned = (rotation: number, displayWidth: number, displayHeight: number) =>
    ({ rotation, displayWidth, displayHeight }) as unknown as VideoFrame
  rendition.encode(turned(180, 640, 360), 0)
  rendition.encode(turned(90, 360, 640), 100_000)
  await vi.waitFor(() => expect(given).toHaveLength(2))
  rendition.encode(turned(90, 360, 640), 200_000)
  const sizeOf = (frame: VideoFrame | undefined) => [frame?.displayWidth, frame?.displayHeight]
  expect(given.map(({ width, height }) => [width, height])).toEqual([
    [640, 360],
    [202, 360],
  ])
  expect([sizeOf(encoded[0]), sizeOf(encoded.at(-1))]).toEqual([
    [640, 360],
    [202, 360],
  ])
})

it('a codec is failing after three encoders that gave nothing, and not while one gives pictures between failures', async () => {
  vi.useFakeTimers()
  const { rendition } = renditionOf(() => {})
  const fails = async (times: number) => {
    for (let i = 0; i < times; i++) {
      await vi.advanceTimersByTimeAsync(1_000)
      failNewest(new DOMException('it failed'))
    }
  }
  await rendition.useCodec('vp8')
  await fails(2)
  give({ byteLength: 1, copyTo: () => {}, timestamp: 0, type: 'key' } as unknown as EncodedVideoChunk)
  await fails(2)
  expect(rendition.failingCodec).toBeUndefined()
  await fails(1)
  expect(rendition.failingCodec).toBe('vp8')
  await rendition.useCodec('av1')
  expect(rendition.failingCodec).toBeUndefined()
})
