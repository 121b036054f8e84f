import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../transport/src/memory/virtual-clock.ts'
import { OwnTracks } from './own-tracks.ts'

const camera = (rendition: number) => ({
  ...{ kind: 'video' as const, source: 'camera' as const, codec: 'vp8', codedWidth: 640, framerate: 15 },
  ...{ codedHeight: 180 * (rendition + 1), bitrate: 100_000 * (rendition + 1), altGroup: 0, rendition },
})
const screen = { ...camera(0), source: 'screen' as const, altGroup: 1, bitrate: 600_000 }

function world() {
  const clock = new VirtualClock()
  const read = new Set([0, 1, 2, 3])
  const said: string[] = []
  const tracks: OwnTracks = new OwnTracks(
    { partitions: 4, hasGivenRate: true },
    {
      clock,
      publish: () => {},
      changed: () => said.push(states()),
      urgentRate: () => Promise.resolve(undefined),
      isRead: (partition) => read.has(partition),
    },
  )
  const states = () => tracks.described.map(({ state }) => state).join(' ')
  const [low, high] = [tracks.publish(camera(0), {}), tracks.publish(camera(1), {})]
  tracks.publish(screen, {})
  tracks.useRate(2_000_000)
  said.length = 0
  const told = (isBusy: boolean, forMs: number): void => {
    for (const untilMs = clock.monotonicMs() + forMs; clock.monotonicMs() < untilMs;) {
      tracks.useBusyness(isBusy)
      clock.advanceBy(250)
    }
  }
  return { tracks, read, said, states, told, low, high }
}

describe("a member's tracks", () => {
  it('are the lowest renditions alone while the computer is busy, and all again when it no longer is', () => {
    const { tracks, said, states, told, low, high } = world()
    told(false, 1_000)
    expect(states()).toBe('live live live')
    told(true, 1_000)
    expect(said).toEqual(['live paused live'])
    // What is left has the rate, and what is published meanwhile is left out as well.
    tracks.useRate(150_000)
    expect([low.bitsPerS, high.bitsPerS]).toEqual([100_000, 0])
    const higher = tracks.publish(camera(2), {})
    expect(higher.track.state).toBe('paused')
    higher.close()
    tracks.useRate(2_000_000)
    told(false, 11_000)
    expect(states()).toBe('live live live')
    // The only rendition that there is stays.
    low.close()
    told(true, 250)
    expect(states()).toBe('live live')
  })

  it('are no upper renditions that nobody reads, and the lowest whoever reads', () => {
    const { tracks, read, said, states } = world()
    read.clear()
    tracks.chooseUpper()
    expect(states()).toBe('live paused live')
    read.add(2)
    tracks.chooseUpper()
    tracks.chooseUpper()
    expect(said).toEqual(['live paused live', 'live live live'])
  })
})
