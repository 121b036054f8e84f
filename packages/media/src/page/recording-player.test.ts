import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { MediaRecording, RecordedObject } from '../recording/recording.ts'
import { TimeLine } from '../recording/time-line.ts'
import { RecordingPlayer } from './recording-player.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Of nobody who is there: it says only how far was read. */
const readTo = (recordedMs: number) =>
  ({ memberId: 'gone', object: { kind: 'audio', track: 1 }, atMs: recordedMs, recordedMs }) as RecordedObject

it('shows a moment that whoever hears of another one goes to, and says so once that was read', async () => {
  const isStored = Promise.withResolvers<void>()
  const recording = {
    range: { fromMs: 0, toMs: 60_000 },
    timeLine: new TimeLine(),
    read: async function* (fromMs: number) {
      if (fromMs < 20_000) await isStored.promise
      for (const aheadMs of [400, 450]) yield await Promise.resolve(readTo(fromMs + aheadMs))
    },
  } as Partial<MediaRecording> as MediaRecording
  const player = new RecordingPlayer(recording, new EventTarget() as AudioContext, {} as AudioNode)
  const seeked: number[] = []
  player.on('seeked', (atMs) => {
    seeked.push(atMs)
    if (atMs === 30_000) player.seek(10_000)
  })
  player.start(30_000)
  await vi.advanceTimersByTimeAsync(100)
  expect(seeked).toEqual([30_000])
  isStored.resolve()
  await vi.advanceTimersByTimeAsync(100)
  expect(seeked).toEqual([30_000, 10_000])
  player.close()
})

it('sound that was interrupted, as by a call, is resumed while it is open', () => {
  const recording = {
    range: { fromMs: 0, toMs: 60_000 },
    timeLine: new TimeLine(),
    read: async function* () {},
  } as Partial<MediaRecording> as MediaRecording
  const resume = vi.fn(() => Promise.resolve())
  const context = Object.assign(new EventTarget(), { state: 'interrupted', resume })
  const player = new RecordingPlayer(recording, context as unknown as AudioContext, {} as AudioNode)
  player.start()
  expect(resume).toHaveBeenCalledTimes(1)
  context.dispatchEvent(new Event('statechange'))
  expect(resume).toHaveBeenCalledTimes(2)
  player.close()
  context.dispatchEvent(new Event('statechange'))
  expect(resume).toHaveBeenCalledTimes(2)
})
