/// <reference lib="dom" />
/** What a test asks of a page that records, or that plays a recording. */
import type { ClientConfig, RunnelClient } from '@runnel/client/browser'
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
import { tracksShown } from '../catalogue/ladder.ts'
import { thumbnailAt } from '../recording/thumbnail-times.ts'
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

/** Shows the middle. */
async function open(client: RunnelClient, streamId: string): Promise<void> {
  recording = await openRecording(streamId, {}, { client })
  const context = new AudioContext({ sampleRate: 48_000 })
  analyser = context.createAnalyser()
  analyser.connect(context.destination)
  player = new RecordingPlayer(recording, context, analyser)
  player.on('fault', (error) => faults.push(String(error)))
  player.start((recording.range.fromMs + recording.range.toMs) / 2)
}

export const recordingDriver = (
  client: () => RunnelClient,
  join: (config: ClientConfig) => Promise<void>,
) => ({
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
  openRecording: (streamId: string) => open(client(), streamId),
  /** From nothing to the first picture: a client, the notes, a key frame. */
  async openTimed(config: ClientConfig, streamId: string): Promise<number> {
    const startMs = performance.now()
    await join(config)
    await open(client(), streamId)
    return new Promise((resolve) => opened().player.on('painted', () => resolve(performance.now() - startMs)))
  },
  range: () => opened().recording.range,
  /** From when on there is a picture. */
  shownFromMs() {
    const { range, timeLine } = opened().recording
    let { fromMs } = range
    while (fromMs < range.toMs && thumbnailAt(timeLine, fromMs) === undefined) fromMs += 50
    return fromMs
  },
  /** Clicks at a moment of the recording, while it is paused. */
  click(atMs: number): Promise<Click> {
    const { player } = opened()
    const startMs = performance.now()
    let first: Pick<Click, 'firstMs' | 'firstPaintedMs'> | undefined
    return new Promise((resolve) => {
      const stops = [
        player.on('painted', () => {
          first ??= { firstMs: performance.now() - startMs, firstPaintedMs: paintedMs() }
        }),
        player.on('seeked', () => {
          const exactMs = performance.now() - startMs
          for (const stop of stops) stop()
          resolve({ firstMs: exactMs, firstPaintedMs: undefined, ...first, exactMs })
        }),
      ]
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
  /** Reads the messages that a click at that moment waits for, and decodes none: what the storage node, the link and the signatures take. */
  async readOnly(atMs: number) {
    const { recording } = opened()
    const { timeLine } = recording
    const keys = timeLine
      .membersAt(atMs)
      .flatMap(({ id, catalogue }) =>
        tracksShown(catalogue.tracks, 1).flatMap(
          ({ id: track }) => timeLine.keyBefore(id, track, atMs) ?? [],
        ),
      )
    const [key] = keys
    if (key === undefined) throw new Error('nothing was shown then')
    const reading = new AbortController()
    const options = { rendition: 1, signal: reading.signal, onDamage: () => {} }
    const startMs = performance.now()
    let [firstMs, bytes] = [Infinity, 0]
    for await (const recorded of recording.read(key.atMs - 20, options)) {
      const { object } = recorded
      bytes += object.data.length
      const isKey = object.track === key.track && object.timestampUs >= key.timestampUs
      if (isKey) firstMs = Math.min(firstMs, performance.now() - startMs)
      // As long as the player reads before it knows that it has all of that moment.
      if (recorded.recordedMs - 250 >= atMs) break
    }
    const exactMs = performance.now() - startMs
    return { firstMs: Math.min(firstMs, exactMs), exactMs, bytes }
  },
})
