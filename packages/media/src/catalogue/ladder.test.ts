import { describe, expect, it } from 'vitest'
import type { Track, VideoTrack } from './catalogue.ts'
import { tracksRead, tracksShown } from './ladder.ts'

const picture = (id: number, codedHeight: number, more: Partial<VideoTrack> = {}): VideoTrack => ({
  ...{ id, kind: 'video', partition: 1, source: 'camera', codec: 'vp8', state: 'live' },
  ...{ codedWidth: 2 * codedHeight, codedHeight, framerate: 30, altGroup: 0, ...more },
})
const sound: Track = {
  ...{ id: 9, kind: 'audio', partition: 0, source: 'microphone', codec: 'opus', state: 'live' },
  ...{ sampleRate: 48_000, numberOfChannels: 1, frameMs: 20 },
}
const screen = picture(3, 720, { altGroup: 1, source: 'screen' })
const tracks = [sound, picture(2, 360), picture(1, 180), screen]
const ids = (found: readonly Track[]) => found.map(({ id }) => id)

describe('the ladder of renditions', () => {
  it('is read up to the one that is wanted, of each thing', () => {
    expect(ids(tracksRead(tracks, 0))).toEqual([1, 3])
    expect(ids(tracksRead(tracks, 1))).toEqual([1, 2, 3])
  })

  it('shows the highest of these that is published now', () => {
    expect(ids(tracksShown(tracks, 0))).toEqual([1, 3])
    expect(ids(tracksShown(tracks, 1))).toEqual([2, 3])
    const paused = [picture(1, 180), picture(2, 360, { state: 'paused' })]
    expect(ids(tracksShown(paused, 1))).toEqual([1])
    expect(ids(tracksShown([picture(1, 180, { state: 'muted' })], 1))).toEqual([])
  })
})
