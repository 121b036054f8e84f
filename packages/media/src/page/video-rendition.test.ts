/// <reference lib="dom" />
import { afterEach, expect, it, vi } from 'vitest'
import { picture } from '../recording/members.testkit.ts'
import { TrackPublisher } from '../session/track-publisher.ts'
import { VideoRendition } from './video-rendition.ts'

const given: VideoEncoderConfig[] = []
let failNewest: VideoEncoderInit['error']

/** An encoder that encodes nothing. */
class Encoder {
  static isConfigSupported = () => Promise.resolve({ supported: true })
  state = 'unconfigured'

  constructor({ error }: VideoEncoderInit) {
    failNewest = error
  }

  configure(config: VideoEncoderConfig): void {
    this.state = 'configured'
    given.push(config)
  }

  close(): void {
    this.state = 'closed'
  }
}

afterEach(() => void vi.unstubAllGlobals())

it('encodes with the rate that was told last: from the beginning, in another codec, after a failure', async () => {
  vi.stubGlobal('VideoEncoder', Encoder)
  const bitrate = 500_000
  const faults: unknown[] = []
  const format = { width: 640, height: 360, framerate: 30, bitrate }
  const rendition = new VideoRendition(format, (error) => faults.push(error))
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
