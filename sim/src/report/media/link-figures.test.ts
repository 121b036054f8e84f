import { expect, it } from 'vitest'
import { linkFigures } from './link-figures.ts'

const row = {
  ...{ arm: 'ours', beside: 'tcp', oneWayMs: 50, ssim: 0.93, waitedP50Ms: 20, waitedP95Ms: 210 },
  ...{ cameKbitPerS: [640, 410], lineKbitPerS: [1_000, 500] },
}

it('draws quality and waiting of all runs, and the rate over time for each thing beside and each delay', () => {
  const rows = [row, { ...row, arm: 'ladder', cameKbitPerS: [700, 300] }, { ...row, oneWayMs: 300 }]
  const figures = linkFigures('media-link', rows)
  expect(figures.map(({ name }) => name)).toEqual([
    'media-link-ssim',
    'media-link-waited',
    'media-link-rate-tcp-50ms',
    'media-link-rate-tcp-300ms',
  ])
  const [ssim, , rate] = figures.map(({ spec }) => JSON.stringify(spec))
  expect(ssim).toContain('"x":"beside tcp\\n300 ms","y":0.93')
  expect(rate?.match(/the line carries/g)).toHaveLength(2)
  expect(rate).toContain('{"x":1,"y":300,"series":"ladder"}')
})

it('draws the rate without the line where an older record does not say it, and no rate where none is there', () => {
  const { lineKbitPerS: _, ...older } = row
  expect(JSON.stringify(linkFigures('media-link', [older]).at(-1)?.spec)).not.toContain('the line carries')
  expect(linkFigures('media-link', [{ ...older, cameKbitPerS: null }])).toHaveLength(2)
})
