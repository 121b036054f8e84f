import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { OpusPlayback } from '../opus/opus.ts'
import {
  controlContent,
  mistakeInMember,
  mistakeInTrack,
  parseControl,
  type Catalogue,
  type Track,
} from './catalogue.ts'

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
    { catalogue: { ...catalogue, reads: [0, 2] } },
    { reads: [0, 1] },
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
    ['a partition that no stream has', { reads: [100] }],
    ['too many partitions', { reads: Array.from({ length: 101 }, () => 1) }],
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

describe('a mistake', () => {
  it.each([
    [
      { ...picture, framerate: 0 },
      'framerate must be a number of pictures a second above 0, up to 240; it is 0',
    ],
    [
      { ...picture, bitrate: NaN },
      'bitrate must be a whole number from 1 to 1000000000, in bits a second; it is NaN',
    ],
    [{ ...picture, codec: '' }, /^codec must be a codec string of WebCodecs.*; it is ""$/],
    [{ ...picture, source: 'window' }, /^source must be "microphone", .* or "file"; it is "window"$/],
    [{ ...picture, kind: 'smell' }, 'kind must be "audio" or "video"; it is "smell"'],
    [{ ...sound, sampleRate: undefined }, /^sampleRate must be .*; it is missing$/],
    [{ ...sound, sampleRate: 44_100 }, /^sampleRate must be one that Opus has/],
    [{ ...sound, codec: 'mp3' }, /^codec must be .* of audio "opus".*; it is "mp3"$/],
    [{ ...picture, foo: 1 }, /^it has no field "foo"$/],
    [{ ...sound, frameMs: 3 }, /^frameMs must be a length that Opus has/],
  ])('in a track is told in plain words: %#', (track, text) => {
    expect(mistakeInTrack(track as Track)).toMatch(text)
  })

  it('in what a member says of itself is, too', () => {
    const member = { name: 'Ada', decodes: ['vp8'] }
    expect(mistakeInMember(member)).toBeUndefined()
    expect(mistakeInMember({ ...member, name: 7 as unknown as string })).toBe('name must be text; it is 7')
    expect(mistakeInMember({ ...member, name: 7n as unknown as string })).toBe('name must be text; it is 7')
    const circular: { self?: unknown } = {}
    circular.self = circular
    expect(mistakeInMember({ ...member, name: circular as unknown as string })).toBe(
      'name must be text; it is object',
    )
    expect(mistakeInMember('Ada' as unknown as typeof member)).toMatch(/; it is "Ada"$/)
    expect(mistakeInMember({ ...member, replaces: 'x' })).toMatch(
      /^replaces must be the id of .*; it is "x"$/,
    )
    expect(mistakeInMember({ ...member, decodes: ['v'.repeat(100)] })).toMatch(/^decodes must be a list .*…$/)
  })
})
