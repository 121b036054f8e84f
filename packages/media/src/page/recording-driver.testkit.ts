/// <reference lib="dom" />
/** What a test asks of a page that records, or that plays a recording. */
import type { RunnelClient } from '@runnel/client/browser'
import {
  openRecording,
  playbackRates,
  recordSession,
  RecordingPlayer,
  Thumbnails,
  thumbnailTimes,
  type MediaRecording,
  type SessionRecorder,
} from './index.ts'
import { readTime } from './painted-time.testkit.ts'

/** What became of a click on the time line. */
export interface Click {
  /** Until any picture was painted, and until that of the moment was. */
  readonly firstMs: number
  readonly exactMs: number
  /** The time that stood in the first one. */
  readonly firstPaintedMs: number | undefined
}

let recorder: SessionRecorder | undefined
let recording: MediaRecording | undefined
let player: RecordingPlayer | undefined
let analyser: AnalyserNode | undefined
const faults: string[] = []

function opened(): { readonly recording: MediaRecording; readonly player: RecordingPlayer } {
  if (recording === undefined || player === undefined) throw new Error('no recording is open')
  return { recording, player }
}

function paintedMs(): number | undefined {
  const { player } = opened()
  const [member] = player.members
  const canvas = member && player.canvasOf(member.id)
  return canvas && readTime(canvas)
}

export const recordingDriver = (client: () => RunnelClient) => ({
  async record(from: string, to: string) {
    const options = { onFault: (error: unknown) => faults.push(String(error)) }
    recorder = await recordSession(from, to, options, { client: client() })
  },
  async stopRecording() {
    if (recorder === undefined) throw new Error('nothing is recorded')
    await recorder.stop()
    return recorder.counters
  },
  async untilRecorded(frames: number) {
    while ((recorder?.counters.recorded ?? 0) < frames) await new Promise(requestAnimationFrame)
  },
  async openRecording(streamId: string) {
    recording = await openRecording(streamId, {}, { client: client() })
    const context = new AudioContext({ sampleRate: 48_000 })
    analyser = context.createAnalyser()
    analyser.connect(context.destination)
    player = new RecordingPlayer(recording, context, analyser)
    player.on('fault', (error) => faults.push(String(error)))
    player.start()
  },
  range: () => opened().recording.range,
  /** Clicks at a moment of the recording, while it is paused. */
  click(atMs: number): Promise<Click> {
    const { player } = opened()
    const startMs = performance.now()
    let first: Pick<Click, 'firstMs' | 'firstPaintedMs'> | undefined
    return new Promise((resolve) => {
      const stop = player.on('painted', (_, __, paintedAtMs) => {
        const ms = performance.now() - startMs
        first ??= { firstMs: ms, firstPaintedMs: paintedMs() }
        // Pictures are up to 67 ms apart.
        if (paintedAtMs < atMs - 100) return
        stop()
        resolve({ ...first, exactMs: ms })
      })
      player.seek(atMs)
    })
  },
  play(rate: number) {
    const { player } = opened()
    player.rate = playbackRates.find((one) => one === rate) ?? 1
    player.play()
  },
  pause: () => opened().player.pause(),
  /** Taken at once: where it is, how long it ran, and which time stands in the picture. */
  played() {
    const { player } = opened()
    const { positionMs, ranMs, isWaiting } = player
    return { positionMs, ranMs, isWaiting, paintedMs: paintedMs() }
  },
  playedHeight: () => opened().player.canvasOf(opened().player.members[0]?.id ?? '')?.height,
  playedLoudness() {
    const samples = new Float32Array(analyser?.fftSize ?? 0)
    analyser?.getFloatTimeDomainData(samples)
    return Math.max(0, ...samples)
  },
  /** The times that stand in so many thumbnails. */
  async thumbnails(count: number) {
    const { recording } = opened()
    const thumbnails = new Thumbnails(recording, { height: 180 })
    const times = thumbnailTimes(recording.range, count)
    const made = await Promise.all(times.map((atMs) => thumbnails.at(atMs)))
    return times.map((atMs, i) => ({ atMs, paintedMs: made[i] && readTime(made[i]) }))
  },
  recordingFaults: () => faults,
  /** Reads the same messages as a click, and decodes none: what the network and the signatures take. */
  async readOnly(fromMs: number, toMs: number) {
    const { recording } = opened()
    const reading = new AbortController()
    const startMs = performance.now()
    let [objects, bytes] = [0, 0]
    const options = { rendition: 1, signal: reading.signal, onDamage: () => {} }
    for await (const { object, atMs } of recording.read(fromMs, options)) {
      objects++
      bytes += object.data.length
      if (atMs >= toMs) break
    }
    reading.abort()
    return { ms: performance.now() - startMs, objects, bytes }
  },
})
