import { expect, it } from 'vitest'
import { playbackLink } from './own-recording.ts'

it('has a link with what the address of the room has, and where it begins and ends', () => {
  const recording = { fromMs: 5, toMs: 9, isStopped: true }
  expect(playbackLink({ ...recording, room: '?stream=private' })).toBe(
    'playback.html?stream=private&from=5&to=9',
  )
  expect(playbackLink({ ...recording, room: '#secret' })).toBe('playback.html?from=5&to=9#secret')
})
