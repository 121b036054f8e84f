import { describe, expect, it } from 'vitest'
import { FrameNumbers } from './frame-numbers.ts'

const numbersOf = (layers: readonly (number | 'key')[]) => {
  const numbers = new FrameNumbers()
  return layers.map((layer) => {
    const isKey = layer === 'key'
    const given = numbers.number({ isKey, temporalLayer: isKey ? 0 : layer })
    return given && [given.object, given.dependency]
  })
}

describe('numbers of pictures', () => {
  it('say what each builds on, in three layers', () => {
    expect(numbersOf(['key', 2, 1, 2, 0, 2, 1, 2, 0])).toEqual([
      ...[
        [0, 0],
        [1, 1],
        [2, 2],
        [3, 1],
      ],
      ...[
        [4, 4],
        [5, 1],
        [6, 2],
        [7, 1],
      ],
      [8, 4],
    ])
  })

  it('say that each builds on the one before, without layers', () => {
    expect(numbersOf(['key', 0, 0, 'key', 0])).toEqual([
      [0, 0],
      [1, 1],
      [2, 1],
      [0, 0],
      [1, 1],
    ])
  })

  it('are not given to what nobody could decode', () => {
    expect(numbersOf([0, 1, 'key'])).toEqual([undefined, undefined, [0, 0]])
    const many = numbersOf(['key', ...Array.from({ length: 256 }, () => 1)])
    expect(many.slice(-2)).toEqual([[255, 255], undefined])
  })
})
