/// <reference lib="dom" />
import type { Message } from '@runnel/client'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { controlContent, controlIn, type Catalogue } from '../catalogue/catalogue.ts'
import { tracksRead } from '../catalogue/ladder.ts'
import { mediaLimits } from '../limits.ts'
import type { MediaSession } from '../session/media-session.ts'
import { openSession } from '../session/open-session.ts'
import { publishAudio } from './publish-audio.ts'
import { publishVideo } from './publish-video.ts'

/** What the session said of itself, the newest last. */
let said: Catalogue[] = []
let contexts: Context[] = []
let hears: (message: Message) => void = () => {}
let session: MediaSession

const client = {
  getStream: () => Promise.resolve({ partitions: 4 }),
  publish: (_streamId: string, content: unknown) => {
    const control = controlIn({ content, urgent: undefined })
    if (control !== undefined && 'catalogue' in control) said.push(control.catalogue)
    return Promise.resolve({ neighbours: 1 })
  },
  subscribe: (_streamId: string, _options: unknown, handler: typeof hears) => {
    hears = handler
    return Promise.resolve({ unsubscribe: () => Promise.resolve() })
  },
  prepare: () => Promise.reject(new Error('nobody is there')),
  urgentRate: () => Promise.reject(new Error('nobody is there')),
}

/** An audio context in which nothing sounds. */
class Context extends EventTarget {
  state = 'running'
  audioWorklet = { addModule: () => Promise.resolve() }
  createMediaStreamSource = () => ({ connect: () => {} })
  resume = () => Promise.resolve(void (this.state = 'running'))

  constructor() {
    super()
    contexts.push(this)
  }

  become(state: string): void {
    this.state = state
    this.dispatchEvent(new Event('statechange'))
  }

  close(): Promise<void> {
    this.state = 'closed'
    return Promise.resolve()
  }
}

/** Reads the pictures of a track: there are none. */
class NoPictures {
  readable = new ReadableStream()
}

/** An encoder that encodes nothing, in VP8 alone. */
class EncoderOfVp8 {
  static isConfigSupported = ({ codec }: VideoEncoderConfig) =>
    Promise.resolve({ supported: codec === 'vp8' })
  configure = () => {}
  close = () => {}
}

const trackOf = (readyState: MediaStreamTrackState) =>
  Object.assign(new EventTarget(), { readyState, getSettings: () => ({}) }) as unknown as MediaStreamTrack

beforeEach(async () => {
  said = []
  contexts = []
  vi.stubGlobal('AudioContext', Context)
  vi.stubGlobal(
    'AudioWorkletNode',
    class {
      port = {}
    },
  )
  vi.stubGlobal('MediaStream', class {})
  session = await openSession('0xa/room', { name: 'Ada' }, { client: client as never })
})
afterEach(async () => {
  await session.close()
  vi.unstubAllGlobals()
})

it('sound that cannot be published leaves no audio context behind', async () => {
  await session.close()
  await expect(publishAudio(session, trackOf('live'), { source: 'microphone' })).rejects.toMatchObject({
    code: 'SESSION_CLOSED',
  })
  expect(contexts.map(({ state }) => state)).toEqual(['closed'])
})

it('sound and pictures end with their session, and leave their tracks alone', async () => {
  const encoders: { state: string }[] = []
  vi.stubGlobal(
    'VideoEncoder',
    class {
      static isConfigSupported = () => Promise.resolve({ supported: true })
      state = 'configured'
      configure = () => {}
      close = () => void (this.state = 'closed')
      constructor() {
        encoders.push(this)
      }
    },
  )
  vi.stubGlobal('MediaStreamTrackProcessor', NoPictures)
  const [microphone, camera] = [trackOf('live'), trackOf('live')]
  const removed = vi.spyOn(microphone, 'removeEventListener')
  await publishAudio(session, microphone, { source: 'microphone' })
  await publishVideo(session, camera, { source: 'camera', codecs: ['vp8'] })
  await session.close()
  expect(contexts.map(({ state }) => state)).toEqual(['closed'])
  expect(encoders.map(({ state }) => state)).toEqual(['closed', 'closed'])
  expect(removed.mock.calls.map(([event]) => event).sort()).toEqual(['ended', 'mute', 'unmute'])
})

it('an encoder is not begun for pictures that ended while a codec was chosen', async () => {
  const supported = Promise.withResolvers<{ supported: boolean }>()
  let [encoders, asked] = [0, 0]
  vi.stubGlobal(
    'VideoEncoder',
    class {
      // It is asked for both renditions what there is, and then again for what is chosen.
      static isConfigSupported = () => (++asked > 2 ? supported.promise : { supported: true })
      configure = () => {}
      close = () => {}
      constructor() {
        encoders++
      }
    },
  )
  const publishing = publishVideo(session, trackOf('live'), { source: 'camera', codecs: ['vp8'] })
  await expect.poll(() => asked).toBe(3)
  const closing = session.close()
  supported.resolve({ supported: true })
  await closing
  ;(await publishing).close()
  expect(encoders).toBe(0)
})

it('sound that ended while it was published is not announced any more', async () => {
  await publishAudio(session, trackOf('ended'), { source: 'microphone' })
  expect(contexts.map(({ state }) => state)).toEqual(['closed'])
  expect(said.map(({ tracks }) => tracks.length)).toEqual([0, 0])
})

it('sound that was interrupted, as by a call, goes on when it may, unless it was ended', async () => {
  const published = await publishAudio(session, trackOf('live'), { source: 'microphone' })
  const [context] = contexts
  const interrupted = vi.fn(() => Promise.reject(new Error('the call goes on')))
  const resume = context?.resume
  Object.assign(context ?? {}, { resume: interrupted })
  context?.become('interrupted')
  expect(interrupted).toHaveBeenCalledTimes(1)
  Object.assign(context ?? {}, { resume })
  context?.become('suspended')
  expect(context?.state).toBe('running')
  published.close()
  context?.become('closed')
  expect(context?.state).toBe('closed')
})

it('sound that does not start is not announced, and leaves no audio context behind', async () => {
  class Blocked extends Context {
    override resume = () => Promise.reject(new Error('nothing plays it'))
  }
  vi.stubGlobal('AudioContext', Blocked)
  await expect(publishAudio(session, trackOf('live'), { source: 'microphone' })).rejects.toThrow('plays it')
  expect(contexts.map(({ state }) => state)).toEqual(['closed'])
  expect(said.map(({ tracks }) => tracks.length)).toEqual([0])
})

it('pictures of which one rendition cannot be published are not announced', async () => {
  vi.stubGlobal('VideoEncoder', EncoderOfVp8)
  const sound = { source: 'microphone', codec: 'opus', sampleRate: 48_000, numberOfChannels: 1 } as const
  for (let i = 1; i < mediaLimits.maxTracks; i++)
    session.publishTrack({ ...sound, kind: 'audio', frameMs: 20, bitrate: 32_000 })
  const publishing = publishVideo(session, trackOf('live'), { source: 'camera', codecs: ['vp8'] })
  await expect(publishing).rejects.toMatchObject({ code: 'TRACK_INVALID' })
  expect(said.at(-1)?.tracks.map(({ kind }) => kind)).not.toContain('video')
})

it('pictures are announced in no codec that the browser does not encode, though it was asked for', async () => {
  vi.stubGlobal('VideoEncoder', EncoderOfVp8)
  vi.stubGlobal('MediaStreamTrackProcessor', NoPictures)
  const publish = (...codecs: string[]) =>
    publishVideo(session, trackOf('live'), { source: 'camera', codecs })
  await expect(publish('h265')).rejects.toThrow(/^This browser cannot encode video: it has none for h265/)
  expect(said.map(({ tracks }) => tracks.length)).toEqual([0])
  const published = await publish('h265', 'vp8')
  expect(said.at(-1)?.tracks.map(({ codec }) => codec)).toEqual(['vp8', 'vp8'])
  published.close()
})

it('a camera and a microphone that the browser mutes are muted for the others, as who publishes them can do', async () => {
  vi.stubGlobal('VideoEncoder', EncoderOfVp8)
  vi.stubGlobal('MediaStreamTrackProcessor', NoPictures)
  const [camera, microphone, screen] = [trackOf('live'), trackOf('live'), trackOf('live')]
  const published = [
    await publishVideo(session, camera, { source: 'camera' }),
    await publishAudio(session, microphone, { source: 'microphone' }),
    await publishVideo(session, screen, { source: 'screen' }),
  ]
  const tell = (isMuted: boolean) => {
    for (const track of [camera, microphone, screen]) {
      Object.assign(track, { muted: isMuted })
      track.dispatchEvent(new Event(isMuted ? 'mute' : 'unmute'))
    }
  }
  const states = () => said.at(-1)?.tracks.map(({ state }) => state)
  tell(true)
  // What was shared last still stands.
  await expect.poll(states).toEqual(['muted', 'muted', 'muted', 'live'])
  for (const one of published) one.mute(true)
  tell(false)
  await expect.poll(states).toEqual(['muted', 'muted', 'muted', 'muted'])
  for (const one of published) one.mute(false)
  await expect.poll(states).toEqual(['live', 'live', 'live', 'live'])
  for (const one of published) one.close()
})

it('pictures in several renditions are announced once, and muted and ended once', async () => {
  vi.stubGlobal('VideoEncoder', EncoderOfVp8)
  vi.stubGlobal('MediaStreamTrackProcessor', NoPictures)
  const published = await publishVideo(session, trackOf('live'), { source: 'camera' })
  await expect.poll(() => said.length).toBe(2)
  published.mute(true)
  await expect.poll(() => said.length).toBe(3)
  published.close()
  await expect.poll(() => said.length).toBe(4)
  const states = said.map(({ tracks }) => tracks.map(({ state }) => state).join())
  expect(states).toEqual(['', 'live,live', 'muted,muted', ''])
})

it('a screen and a file beside each other are both read, in all their renditions', async () => {
  vi.stubGlobal('VideoEncoder', EncoderOfVp8)
  vi.stubGlobal('MediaStreamTrackProcessor', NoPictures)
  const published = [
    await publishVideo(session, trackOf('live'), { source: 'file' }),
    await publishVideo(session, trackOf('live'), { source: 'screen' }),
  ]
  await expect.poll(() => said.at(-1)?.tracks.length).toBe(3)
  const heights = tracksRead(said.at(-1)?.tracks ?? [], 1).map(({ codedHeight }) => codedHeight)
  expect(heights.sort()).toEqual([180, 360, 720])
  for (const one of published) one.close()
})

it('a codec is chosen once for all who came while one was being chosen', async () => {
  const supported = Promise.withResolvers<{ supported: boolean }>()
  let asked = 0
  let isPublished = false
  vi.stubGlobal(
    'VideoEncoder',
    class {
      static isConfigSupported = ({ codec }: VideoEncoderConfig) => {
        if (codec !== 'vp8' || !isPublished) return { supported: true }
        asked++
        return supported.promise
      }
      configure = () => {}
      close = () => {}
    },
  )
  vi.stubGlobal('MediaStreamTrackProcessor', NoPictures)
  const options = { source: 'camera', codecs: ['av1', 'vp8'] } as const
  const published = await publishVideo(session, trackOf('live'), options)
  isPublished = true
  const come = (i: number) => {
    const decodes = i % 2 === 0 ? ['vp8'] : ['av1']
    const catalogue = { version: 1, session: `${i}`.padStart(16, '0'), name: `Ben ${i}`, tracks: [] } as const
    const content = controlContent({ catalogue: { ...catalogue, decodes } })
    hears({ content, publisherId: '0xb', messageChainId: 'chain', urgent: undefined } as Message)
  }
  come(0)
  await expect.poll(() => asked).toBeGreaterThan(0)
  const chosen = vi.spyOn(session, 'members', 'get')
  for (let i = 1; i <= 10; i++) come(i)
  const before = chosen.mock.calls.length
  supported.resolve({ supported: true })
  await expect.poll(() => said.at(-1)?.tracks.map(({ codec }) => codec)).toEqual(['vp8', 'vp8'])
  published.close()
  expect(chosen.mock.calls.length - before).toBe(1)
})

it('pictures go over to another codec where the encoders of one always fail, and stay with the last', async () => {
  vi.useFakeTimers()
  let pictures: ReadableStreamDefaultController<VideoFrame> | undefined
  vi.stubGlobal(
    'MediaStreamTrackProcessor',
    class {
      readable = new ReadableStream<VideoFrame>({ start: (controller) => void (pictures = controller) })
    },
  )
  vi.stubGlobal(
    'VideoFrame',
    class {
      close = () => {}
    },
  )
  vi.stubGlobal(
    'VideoEncoder',
    class {
      static isConfigSupported = () => Promise.resolve({ supported: true })
      encodeQueueSize = 0
      state = 'unconfigured'
      readonly #error: VideoEncoderInit['error']
      constructor({ error }: VideoEncoderInit) {
        this.#error = error
      }
      configure = () => void (this.state = 'configured')
      close = () => void (this.state = 'closed')
      encode(): void {
        this.state = 'closed'
        queueMicrotask(() => this.#error(new DOMException('it failed')))
      }
    },
  )
  const codecs = ['vp09.00.10.08', 'vp8']
  const published = await publishVideo(session, trackOf('live'), { source: 'screen', codecs })
  const seen = new Set<string | undefined>()
  for (let i = 0; i < 200; i++) {
    pictures?.enqueue({ displayWidth: 1_280, displayHeight: 720, close: () => {} } as VideoFrame)
    await vi.advanceTimersByTimeAsync(100)
    seen.add(said.at(-1)?.tracks[0]?.codec)
  }
  published.close()
  vi.useRealTimers()
  expect([...seen]).toEqual(codecs)
})
