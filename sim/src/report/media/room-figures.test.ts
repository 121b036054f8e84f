import { expect, it } from 'vitest'
import { roomFigures } from './room-figures.ts'

const row = {
  ...{ arm: 'relay', floods: 'thin', members: 5, lossPercent: 1, soundCopies: 1, pictureCopies: 1.1 },
  ...{ soundP50Ms: 41, soundP95Ms: 52, soundP99Ms: 63, pictureP50Ms: 74, pictureP95Ms: 85, pictureP99Ms: 96 },
  ...{ soundLossPercent: 0, pictureLossPercent: 0.1, concealedPercent: 0.2, freezesPerMinute: 0.3 },
  cpuPercent: 12,
}
const textOf = (figures: ReturnType<typeof roomFigures>, name: string): string =>
  JSON.stringify(figures.find((figure) => figure.name === name)?.spec)

it('draws delays, copies, processor time, losses and freezes, by size, loss and arm', () => {
  const figures = roomFigures('media', [row, { ...row, arm: 'random', floods: 'full', members: 10 }])
  expect(figures.map(({ name }) => name)).toEqual([
    'media-delay',
    'media-copies',
    'media-cpu',
    'media-lost',
    'media-freezes',
  ])
  const delay = textOf(figures, 'media-delay')
  for (const part of [
    'sound\\n5 members\\n1 % loss',
    'pictures\\n10 members',
    '"tick":96',
    'random, full floods',
  ])
    expect(delay).toContain(part)
})

it('leaves out an arm that has not measured something, and what no arm has', () => {
  const failed = { ...row, arm: 'random', pictureP50Ms: null, pictureP95Ms: null, cpuPercent: null }
  const both = textOf(roomFigures('media', [row, failed]), 'media-delay')
  expect(both).toContain('"x":"sound\\n5 members\\n1 % loss","y":41,"series":"random"')
  expect(both).not.toContain('"x":"pictures\\n5 members\\n1 % loss","y":null')
  expect(roomFigures('media', [failed]).map(({ name }) => name)).not.toContain('media-cpu')
  expect(roomFigures('media', [{ arm: 'random' }])).toEqual([])
})
