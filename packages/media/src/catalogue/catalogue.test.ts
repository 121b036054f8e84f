import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { OpusPlayback } from '../opus/opus.ts'
import { controlContent, parseControl, type Catalogue, type Track } from './catalogue.ts'

const sound: Track = {
  ...{ id: 1, kind: 'audio', partition: 0, source: 'microphone', codec: 'opus', state: 'live' },
  ...{ sampleRate: 48_000, numberOfChannels: 1, frameMs: 20, bitrate: 32_000 },
}
const picture: Track = {
  ...{ id: 2, kind: 'video', partition: 1, source: 'camera', codec: 'vp09.00.10.08', state: 'muted' },
  ...{ codedWidth: 320, codedHeight: 180, framerate: 15, altGroup: 0, bitrate: 120_000 },
}
const catalogue: Catalogue = {
  ...{ version: 1, session: '0123456789abcdef', name: 'Ada', decodes: ['vp8'], tracks: [sound, picture] },
}
const parse = (changes: object) => parseControl(controlContent({ catalogue: { ...catalogue, ...changes } }))

describe('what members tell each other', () => {
  it.each([
    { catalogue },
    { leave: true, session: catalogue.session } as const,
    { leave: true } as const,
    { key: { session: catalogue.session, track: 2 } },
  ])('is read as it was written: %o', (control) => {
    expect(parseControl(JSON.parse(JSON.stringify(controlContent(control))))).toEqual(control)
  })

  it.each([
    ['a name that is too long', { name: 'a'.repeat(mediaLimits.maxNameLength + 1) }],
    ['another version', { version: 2 }],
    ['two tracks of one number', { tracks: [sound, { ...picture, id: 1 }] }],
    ['a number that objects cannot have', { tracks: [{ ...sound, id: 256 }] }],
    ['a size of nothing', { tracks: [{ ...picture, codedWidth: 0 }] }],
    ['too many tracks', { tracks: Array.from({ length: 17 }, (_, id) => ({ ...sound, id })) }],
    ['too many codecs', { decodes: Array.from({ length: 17 }, String) }],
    ['a session that is text', { session: '<script>' }],
    ['an earlier session that is text', { replaces: '<script>' }],
  ])('is nothing with %s', (_, changes) => {
    expect(parse(changes)).toBeUndefined()
  })

  it.each(['', ' ', 'vp8\n', '\u0001', 'é', 'v'.repeat(mediaLimits.maxTextLength + 1)])(
    'is nothing with the codec %j',
    (codec) => {
      expect(parse({ tracks: [{ ...picture, codec }] })).toBeUndefined()
      expect(parse({ decodes: [codec] })).toBeUndefined()
    },
  )

  it.each([0, 2.6, 3, 19.9, 122.5])('is nothing with frames of %d ms, which Opus lacks', (frameMs) => {
    expect(parse({ tracks: [{ ...sound, frameMs }] })).toBeUndefined()
  })

  it.each([2.5, 5, 7.5, 10, 20, 40, 60, 80, 100, 120])(
    'has frames of %d ms, which Opus has',
    async (frameMs) => {
      expect(parse({ tracks: [{ ...sound, frameMs }] })).toBeDefined()
      const playback = await OpusPlayback.create(frameMs)
      expect(playback.play({ type: 'conceal', timestampUs: 0 })).toHaveLength(48 * frameMs)
      playback[Symbol.dispose]()
    },
  )

  it('is nothing where it is what an application says', () => {
    for (const content of [
      undefined,
      null,
      'hello',
      7,
      [],
      { text: 'hello' },
      { media: {} },
      { media: { leave: 1 } },
    ])
      expect(parseControl(content)).toBeUndefined()
  })
})
