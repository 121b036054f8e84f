/// <reference lib="dom" />
import { expect, it, vi } from 'vitest'
import type { AudioTrack } from '../catalogue/catalogue.ts'
import { OpusPlayback } from '../opus/opus.ts'
import { MemberPlayer } from './member-player.ts'

const sound: AudioTrack = {
  ...{ id: 1, kind: 'audio', partition: 0, source: 'microphone', codec: 'opus', state: 'live' },
  ...{ sampleRate: 48_000, numberOfChannels: 1, frameMs: 20 },
}

it('keeps no decoder of a track that went and came back while that was opened', async () => {
  let open = 0
  vi.spyOn(OpusPlayback, 'create').mockImplementation(() => {
    open++
    return Promise.resolve({ [Symbol.dispose]: () => open-- } as never)
  })
  const modules = {
    context: {} as AudioContext,
    output: {} as AudioNode,
    wantKey: () => {},
    failed: () => {},
  }
  const player = new MemberPlayer('0123456789abcdef', modules)
  for (const tracks of [[sound], [], [sound]]) player.update(tracks, 0)
  await vi.waitFor(() => expect(open).toBe(1))
  player.close()
  expect(open).toBe(0)
  vi.restoreAllMocks()
})
