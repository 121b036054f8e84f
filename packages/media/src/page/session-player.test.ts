/// <reference lib="dom" />
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { AudioTrack, VideoTrack } from '../catalogue/catalogue.ts'
import { memberOf, picture } from '../recording/members.testkit.ts'
import type { MediaSession } from '../session/media-session.ts'
import type { MediaEvents } from '../session/session-events.ts'
import { SessionPlayer } from './session-player.ts'

const ending = { controller: new AbortController() }
/** Partitions that were read last, and of whom key frames were asked for. */
let read: number[] = []
let asked = new Set<string>()
let push: (...object: MediaEvents['object']) => void = () => {}

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
    on: (event: string, listener: typeof push) => {
      if (event === 'object') push = listener
      return () => {}
    },
    read: (partitions: Iterable<number>) => Promise.resolve(void (read = [...partitions])),
    requestKey: (id: string) => asked.add(id),
  } as Partial<MediaSession> as MediaSession
}

const sound: AudioTrack = {
  ...{ id: 7, kind: 'audio', partition: 0, source: 'microphone', codec: 'opus', state: 'live' },
  ...{ sampleRate: 48_000, numberOfChannels: 1, frameMs: 20, bitrate: 32_000 },
}

const context = Object.assign(new EventTarget(), { state: 'suspended' }) as unknown as AudioContext

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

it('takes who shares a screen for nobody who speaks', () => {
  const player = new SessionPlayer(sessionOf(), context)
  player.start()
  const hears = (source: 'screen' | 'microphone') => {
    const member = memberOf('ada', [{ ...sound, source }])
    for (let i = 0; i < 50; i++) {
      const object = {
        kind: 'audio',
        track: sound.id,
        timestampUs: 20_000 * i,
        level: 10,
        data: new Uint8Array(1),
      } as const
      push(member, object, { group: i, object: 0 })
      vi.advanceTimersByTime(20)
    }
    return player.speaker
  }
  expect([hears('screen'), hears('microphone')]).toEqual([undefined, 'ada'])
  player.close()
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

it('sound that was interrupted, as by a call, is resumed until the player is closed', () => {
  const resume = vi.fn(() => Promise.resolve())
  const interrupted = Object.assign(new EventTarget(), { state: 'running', resume })
  const player = new SessionPlayer(sessionOf(), interrupted as unknown as AudioContext, {} as AudioNode)
  player.start()
  interrupted.state = 'interrupted'
  interrupted.dispatchEvent(new Event('statechange'))
  expect(resume).toHaveBeenCalledTimes(1)
  player.close()
  interrupted.dispatchEvent(new Event('statechange'))
  expect(resume).toHaveBeenCalledTimes(1)
})
