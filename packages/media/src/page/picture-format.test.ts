import { expect, it } from 'vitest'
import { formatOf } from './picture-format.ts'

const screen = { height: 720, framerate: 8, bitrate: 600_000 }

it.each([
  ['of the usual shape', [1_920, 1_080], [1_280, 720]],
  ['upright', [600, 900], [480, 720]],
  ['very wide', [3_440, 1_440], [1_280, 536]],
  ['a line', [10_000, 1], [1_280, 2]],
  ['a column', [1, 10_000], [2, 720]],
  ['not known yet', [0, 0], [1_280, 720]],
] as const)(
  'a picture %s has a size that encoders take, and no more than its lines are for',
  (_, given, made) => {
    const [width, height] = given
    const format = formatOf(screen, { width, height })
    expect([format.width, format.height]).toEqual(made)
    expect(format).toMatchObject({ framerate: 8, bitrate: 600_000 })
  },
)
