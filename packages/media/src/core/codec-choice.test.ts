import { describe, expect, it } from 'vitest'
import { chooseCodec } from './codec-choice.ts'

const encodes = ['vp9', 'av1', 'h264', 'vp8']

describe('the choice of a codec', () => {
  it.each([
    ['nobody is there', {}, 'vp9', []],
    ['all decode the preferred one', { a: ['vp9', 'vp8'], b: ['vp8', 'vp9'] }, 'vp9', []],
    ['there is another in common', { a: ['vp9', 'h264'], b: ['h264'] }, 'h264', []],
    ['there is none in common', { a: ['vp9'], b: ['h264'], c: ['h264'] }, 'h264', ['a']],
    ['somebody decodes nothing', { a: ['vp8'], b: [] }, 'vp8', ['b']],
  ])('where %s', (_, decodes, codec, without) => {
    expect(chooseCodec(encodes, new Map(Object.entries(decodes)))).toEqual({ codec, without })
  })

  it('is none where nothing can be encoded', () => {
    expect(chooseCodec([], new Map([['a', ['vp9']]]))).toBeUndefined()
  })
})
