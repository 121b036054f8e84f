import { describe, expect, it } from 'vitest'
import { freeLabels } from './labels.ts'

describe('labels of a map', () => {
  it('do not cover each other: who comes first stays', () => {
    const at = (name: string, cx: number, cy: number) => ({ name, cx, cy, r: 3 })
    const labels = freeLabels([
      at('London', 100, 50),
      at('Paris', 110, 55),
      at('Rome', 110, 80),
      at('Oslo', 160, 50),
    ])
    expect(labels.map(({ name }) => name)).toEqual(['London', 'Rome', 'Oslo'])
  })
})
