import { describe, expect, it } from 'vitest'
import { keyAction } from './graph-keys.ts'

const plain = { ctrlKey: false, metaKey: false, altKey: false }

describe('keys of the picture', () => {
  it.each([
    ['ArrowLeft', 'left'],
    ['Enter', 'open'],
    ['+', 'larger'],
    ['=', 'larger'],
    ['0', 'fit'],
    ['x', undefined],
    ['toString', undefined],
  ])('%s does: %s', (key, action) => expect(keyAction({ ...plain, key })).toBe(action))

  it.each([
    ['ctrlKey', '+'],
    ['metaKey', '-'],
    ['ctrlKey', '0'],
    ['altKey', 'ArrowLeft'],
  ])('leaves to the browser what is pressed with %s: %s', (modifier, key) => {
    expect(keyAction({ ...plain, key, [modifier]: true })).toBeUndefined()
  })
})
