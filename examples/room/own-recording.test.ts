import { expect, it } from 'vitest'
import { playbackLink } from './own-recording.ts'

it('has a link with what the address of the room has, and the end where it is known', () => {
  const recording = { room: '?stream=private', fromMs: 5, isStopped: true }
  expect(playbackLink({ ...recording, toMs: 9 })).toBe('playback.html?stream=private&from=5&to=9')
  expect(playbackLink({ ...recording, room: '#secret' })).toBe('playback.html?from=5#secret')
})
