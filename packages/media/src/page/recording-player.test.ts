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
  const player = new RecordingPlayer(recording, {} as AudioContext, {} as AudioNode)
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
