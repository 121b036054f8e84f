import { expect, it } from 'vitest'
import { counted, percent, short } from './figures.ts'

it('rounds to three digits, and never a whole one', () => {
  expect([0.12345, 12.345, 1030.6].map(short)).toEqual(['0.123', '12.3', '1031'])
  expect(percent(99.99)).toBe('100 %')
})

it('counts one as one', () => {
  expect([counted(1, 'overlay'), counted(2, 'overlay')]).toEqual(['1 overlay', '2 overlays'])
})
