import { expect, it } from 'vitest'
import { playbackKey } from './playback-key.ts'

const none = { ctrlKey: false, altKey: false, metaKey: false }

it('plays, moves and changes the speed', () => {
  const all = [' ', 'ArrowLeft', 'ArrowRight', '-', '+', 'x'].map((key) => playbackKey({ ...none, key }))
  expect(all).toEqual(['toggle', 'back', 'forward', 'slower', 'faster', undefined])
})

it("leaves the browser's own keys alone", () => {
  for (const key of ['-', '+', 'ArrowLeft', 'ArrowRight'])
    for (const modifier of ['ctrlKey', 'altKey', 'metaKey'])
      expect(playbackKey({ ...none, key, [modifier]: true })).toBeUndefined()
})
