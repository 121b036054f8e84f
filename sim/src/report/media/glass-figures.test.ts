import { expect, it } from 'vitest'
import { glassFigures } from './glass-figures.ts'

const row = {
  ...{ arm: 'overlay', watching: 2, lossPercent: 0, soundP50Ms: 130, soundP95Ms: 150 },
  ...{ pictureP50Ms: 120, pictureP95Ms: 160, freezesPerMinute: 1, concealedPercent: 2 },
}

it('draws delays, freezes and concealed sound of each arm that has them', () => {
  const figures = glassFigures('media-glass', [
    row,
    { ...row, arm: 'sfu', lossPercent: 3, concealedPercent: null },
  ])
  expect(figures.map(({ name }) => name)).toEqual([
    'media-glass-delay',
    'media-glass-freezes',
    'media-glass-concealed',
  ])
  const [delay, , concealed] = figures.map(({ spec }) => JSON.stringify(spec))
  expect(delay).toContain('"x":"pictures\\n2 watching\\n3 % loss","y":120,"series":"sfu","tick":160')
  expect(concealed).toContain('overlay')
  expect(concealed).not.toContain('sfu')
})
