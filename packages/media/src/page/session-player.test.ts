/// <reference lib="dom" />
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { VideoTrack } from '../catalogue/catalogue.ts'
import { memberOf, picture } from '../recording/members.testkit.ts'
import type { MediaSession } from '../session/media-session.ts'
import { SessionPlayer } from './session-player.ts'

const ending = { controller: new AbortController() }
/** Partitions that were read last, and of whom key frames were asked for. */
let read: number[] = []
let asked = new Set<string>()

/** Shows pictures in VP8 alone. */
class Decoder {
  static isConfigSupported = ({ codec }: VideoDecoderConfig) =>
    Promise.resolve({ supported: codec === 'vp8' })
  state = 'unconfigured'
  configure = () => {}
  close = () => {}
}

/** A session of Ada, who sends VP8, and Ben, who sends H.265. */
function sessionOf(): MediaSession {
  const h265: VideoTrack = { ...picture, codec: 'hev1.1.6.L93.B0', partition: 2 }
  return {
    members: [memberOf('ada', [picture]), memberOf('ben', [h265])],
    ended: ending.controller.signal,
    on: () => () => {},
    read: (partitions: Iterable<number>) => Promise.resolve(void (read = [...partitions])),
    requestKey: (id: string) => asked.add(id),
  } as Partial<MediaSession> as MediaSession
}

const context = { state: 'suspended' } as AudioContext

beforeEach(() => {
  vi.useFakeTimers()
  read = []
  asked = new Set()
  ending.controller = new AbortController()
  vi.stubGlobal('document', { createElement: () => ({ getContext: () => null }) })
  vi.stubGlobal('requestAnimationFrame', () => 1)
  vi.stubGlobal('cancelAnimationFrame', () => {})
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('takes no pictures in a codec that the browser does not decode, and asks nobody for key frames of them', async () => {
  vi.stubGlobal('VideoDecoder', Decoder)
  const player = new SessionPlayer(sessionOf(), context)
  player.start()
  await vi.advanceTimersByTimeAsync(2_000)
  player.close()
  expect({ read, asked: [...asked] }).toEqual({ read: [1], asked: ['ada'] })
})

it('takes sound alone where the browser decodes no pictures at all', async () => {
  const player = new SessionPlayer(sessionOf(), context)
  player.start()
  await vi.advanceTimersByTimeAsync(2_000)
  player.close()
  expect({ read, asked: [...asked] }).toEqual({ read: [], asked: [] })
})

it('ends with its session', async () => {
  vi.stubGlobal('VideoDecoder', Decoder)
  const player = new SessionPlayer(sessionOf(), context)
  player.start()
  await vi.advanceTimersByTimeAsync(1_000)
  ending.controller.abort()
  expect(vi.getTimerCount()).toBe(0)
  expect(player.report.members.size).toBe(0)
})
