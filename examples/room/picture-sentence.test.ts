import type { Track } from '@runnel/media/page'
import { describe, expect, it } from 'vitest'
import { sentenceOf } from './picture-sentence.ts'

const idle = { here: false, there: false }

function camera(state: Track['state'], codec = 'vp8'): Track {
  const size = { codedWidth: 320, codedHeight: 180, framerate: 15, altGroup: 0 }
  return { ...{ kind: 'video', source: 'camera', id: 1, partition: 1 }, ...size, codec, state }
}

describe('the sentence in place of a picture', () => {
  it('is none where there is one', () => {
    expect(sentenceOf([camera('paused'), camera('live')], ['vp8'], 0, idle)).toBe('')
  })

  it('says that there is no camera', () => {
    for (const tracks of [[], [camera('muted')]])
      expect(sentenceOf(tracks, ['vp8'], 0, idle)).toBe('No camera')
  })

  it('says whose network has no room for the lowest rendition, and that sound goes on', () => {
    expect(sentenceOf([camera('paused')], ['vp8'], 0, idle)).toMatch(/^Sound only: their network is too slow/)
    expect(sentenceOf([camera('live')], ['vp8'], -1, idle)).toMatch(/^Sound only: your network is too slow/)
  })

  it('blames no network for a computer that is too busy', () => {
    const [here, there] = [
      { ...idle, here: true },
      { ...idle, there: true },
    ]
    expect(sentenceOf([camera('paused')], ['vp8'], 0, there)).toContain('their computer is too busy')
    expect(sentenceOf([camera('paused')], ['vp8'], 0, here)).toContain('your computer is too busy')
    expect(sentenceOf([camera('live')], ['vp8'], -1, here)).toContain('your computer is too busy')
  })

  it('says that none has come yet', () => {
    expect(sentenceOf([camera('live')], ['vp8'], 0, idle, false)).toBe('Waiting for their video …')
  })

  it('says that there is no codec in common', () => {
    expect(sentenceOf([camera('live', 'av01.0.04M.08')], ['vp8'], 0, idle)).toContain('no codec in common')
  })
})
