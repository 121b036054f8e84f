/// <reference lib="dom" />
import { audioLevel } from '../core/audio-level.ts'
import { mediaError } from '../errors.ts'
import { createOpusEncoder, opusDefaults, samplesPerFrame } from '../opus/opus.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import type { MediaSession } from '../session/media-session.ts'
import { DeviceMute } from './device-mute.ts'
import { startSound } from './start-sound.ts'

/** Runs in the thread that makes sound: collects samples of the first channel into frames. */
const collector = `registerProcessor('runnel-collector', class extends AudioWorkletProcessor {
  constructor(options) {
    super()
    this.length = options.processorOptions.samples
    this.frame = new Float32Array(this.length)
    this.filled = 0
  }
  process([[channel]]) {
    for (let from = 0; channel !== undefined && from < channel.length; ) {
      const part = channel.subarray(from, from + this.length - this.filled)
      this.frame.set(part, this.filled)
      this.filled += part.length
      from += part.length
      if (this.filled < this.length) break
      this.port.postMessage(this.frame, [this.frame.buffer])
      this.frame = new Float32Array(this.length)
      this.filled = 0
    }
    return true
  }
})`

/** A clock this far off is set anew: the computer slept, or sound was held up. */
const maxDriftUs = 60_000

export interface PublishAudioOptions {
  readonly source: 'microphone' | 'screen' | 'file'
}

const names: OptionNames<PublishAudioOptions> = { source: true }

/** Published sound. */
export interface PublishedAudio {
  /** How loud the last frame was, as in `AudioObject`. */
  readonly level: number
  mute(isMuted: boolean): void
  /** Ends publishing; the browser's track goes on. Idempotent. */
  close(): void
}

/** Publishes the sound of a track as Opus, 20 ms at a time, until it or the session ends. Throws OPTIONS_INVALID, SOUND_BLOCKED, SOUND_REFUSED, and what the session throws. */
export async function publishAudio(
  session: MediaSession,
  track: MediaStreamTrack,
  options: PublishAudioOptions,
): Promise<PublishedAudio> {
  checkOptions('publishAudio', options, names)
  const { source } = options
  const { sampleRate, frameMs, bitrate } = opusDefaults
  const encoder = await createOpusEncoder()
  const stops = [() => encoder[Symbol.dispose]()]
  const close = (): void => {
    for (const stop of stops.splice(0).reverse()) stop()
  }
  try {
    const context = new AudioContext({ sampleRate })
    stops.push(() => void context.close())
    const node = await collectorIn(context)
    // Nobody is told of sound that does not run.
    await startSound(context)
    // A call, a device that is gone, or a computer that slept has stopped it; the browser leaves it to the page to go on.
    context.addEventListener('statechange', () => {
      if (context.state !== 'running' && context.state !== 'closed') context.resume().catch(() => {})
    })
    const publisher = session.publishTrack({
      ...{ kind: 'audio', source, codec: 'opus', sampleRate, numberOfChannels: 1, frameMs, bitrate },
    })
    stops.push(
      () => publisher.close(),
      () => (node.port.onmessage = null),
    )
    let level = 127
    const clock = new FrameClock(session)
    node.port.onmessage = ({ data }: MessageEvent<Float32Array>) => {
      level = audioLevel(data)
      const timestampUs = clock.next()
      if (publisher.track.state === 'live') publisher.send({ timestampUs, level, data: encoder.encode(data) })
    }
    context.createMediaStreamSource(new MediaStream([track])).connect(node)
    track.addEventListener('ended', close)
    session.ended.addEventListener('abort', close)
    stops.push(
      () => track.removeEventListener('ended', close),
      () => session.ended.removeEventListener('abort', close),
    )
    const mute = new DeviceMute((isMuted) => publisher.mute(isMuted))
    if (source === 'microphone') {
      const stop = new AbortController()
      stops.push(() => stop.abort())
      mute.follow(track, stop.signal)
    }
    // It ended meanwhile, which is not told again.
    if (track.readyState === 'ended') close()
    return {
      get level() {
        return level
      },
      mute: (isMuted) => mute.ask(isMuted),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

async function collectorIn(context: AudioContext): Promise<AudioWorkletNode> {
  const url = URL.createObjectURL(new Blob([collector], { type: 'text/javascript' }))
  try {
    await context.audioWorklet.addModule(url)
  } catch (cause) {
    throw mediaError('SOUND_REFUSED', 'an audio worklet cannot be loaded', { cause })
  } finally {
    URL.revokeObjectURL(url)
  }
  return new AudioWorkletNode(context, 'runnel-collector', {
    ...{ numberOfOutputs: 0, channelCount: 1, channelCountMode: 'explicit' },
    processorOptions: { samples: samplesPerFrame },
  })
}

/** Stamps frames that follow each other: evenly, as they were recorded, though they arrive by fits and starts. */
class FrameClock {
  readonly #session: MediaSession
  #nextUs: number | undefined

  constructor(session: MediaSession) {
    this.#session = session
  }

  next(): number {
    const frameUs = opusDefaults.frameMs * 1_000
    const recordedUs = Math.max(0, this.#session.nowUs() - frameUs)
    if (this.#nextUs === undefined || Math.abs(recordedUs - this.#nextUs) > maxDriftUs)
      this.#nextUs = Math.round(recordedUs / frameUs) * frameUs
    const timestampUs = this.#nextUs
    this.#nextUs += frameUs
    return timestampUs
  }
}
