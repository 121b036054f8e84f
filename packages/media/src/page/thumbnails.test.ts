/// <reference lib="dom" />
import { afterEach, expect, it, vi } from 'vitest'
import { ada, picture as track } from '../recording/members.testkit.ts'
import type { MediaRecording } from '../recording/recording.ts'
import { TimeLine } from '../recording/time-line.ts'
import { Thumbnails } from './thumbnails.ts'
import { stubVideoDecoder } from './video-decoder.testkit.ts'

afterEach(() => void vi.unstubAllGlobals())

it('are made though one before shows nothing', async () => {
  stubVideoDecoder()
  vi.stubGlobal('document', { createElement: () => ({ getContext: () => null }) })
  const timeLine = new TimeLine()
  const keys = [1_000, 2_000].map((atMs) => ({ memberId: ada.id, track: track.id, atMs, timestampUs: atMs }))
  timeLine.add({ change: { atMs: 0, members: [ada] }, clocks: [], keys }, 3_000)
  const recording = {
    timeLine,
    readKey: ({ atMs }: { atMs: number }) =>
      Promise.resolve({ object: { data: Uint8Array.of(atMs === 1_000 ? 0 : 1) } }),
  }
  const thumbnails = new Thumbnails(recording as unknown as MediaRecording)
  const made = await Promise.all([thumbnails.at(1_500), thumbnails.at(2_500)])
  expect(made.map((canvas) => canvas?.height)).toEqual([undefined, 72])
})
