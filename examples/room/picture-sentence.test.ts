import type { Track } from '@runnel/media/page'
import { describe, expect, it } from 'vitest'
import { pictureState, recordedSentence, sentenceOf } from './picture-sentence.ts'

const idle = { here: false, there: false }

function camera(state: Track['state'], codec = 'vp8'): Track {
  const size = { codedWidth: 320, codedHeight: 180, framerate: 15, altGroup: 0 }
  return { ...{ kind: 'video', source: 'camera', id: 1, partition: 1 }, ...size, codec, state }
}

describe('the state of a picture', () => {
  it.each([
    ['shown', [camera('paused'), camera('live')]],
    ['none', []],
    ['none', [camera('muted')]],
    ['paused', [camera('paused')]],
    ['undecodable', [camera('live', 'av01.0.04M.08')]],
  ] as const)('is %s with %o', (state, tracks) => {
    expect(pictureState(tracks, ['vp8'], 0)).toBe(state)
  })

  it('tells what is not taken here, and what has not come yet', () => {
    expect(pictureState([camera('live')], ['vp8'], -1)).toBe('refused')
    expect(pictureState([camera('live')], ['vp8'], 0, false)).toBe('awaited')
  })
})

describe('the sentence in place of a picture', () => {
  it('is none where there is one', () => {
    expect(sentenceOf('shown', idle)).toBe('')
  })

  it('says that there is no camera, no picture yet, or no codec in common', () => {
    expect(sentenceOf('none', idle)).toBe('No camera')
    expect(sentenceOf('awaited', idle)).toBe('Waiting for their video …')
    expect(sentenceOf('undecodable', idle)).toContain('no codec in common')
  })

  it('says whose network has no room for the lowest rendition, and that sound goes on', () => {
    expect(sentenceOf('paused', idle)).toMatch(/^Sound only: their network is too slow/)
    expect(sentenceOf('refused', idle)).toMatch(/^Sound only: your network is too slow/)
  })

  it('blames no network for a computer that is too busy', () => {
    const [here, there] = [
      { ...idle, here: true },
      { ...idle, there: true },
    ]
    expect(sentenceOf('paused', there)).toContain('their computer is too busy')
    expect(sentenceOf('paused', here)).toContain('your computer is too busy')
    expect(sentenceOf('refused', here)).toContain('your computer is too busy')
  })
})

it.each([
  ['', [camera('paused'), camera('live')]],
  ['No camera', []],
  ['No camera', [camera('muted')]],
  ['Sound only: their video paused', [camera('paused'), camera('muted')]],
] as const)('a moment of a recording has the sentence “%s” with %o', (sentence, tracks) => {
  expect(recordedSentence(tracks)).toBe(sentence)
})
