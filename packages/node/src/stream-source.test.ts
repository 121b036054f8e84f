import { describe, expect, it } from 'vitest'
import { overlayIn } from './stream-source.ts'

describe('the overlay in the metadata of a stream', () => {
  it.each([
    ['{"overlay":"topology-aware","unit":"K"}', 'topology-aware'],
    ['{"overlay":"random"}', 'random'],
    ['{"overlay":"star"}', undefined],
    ['{"overlay":{"random":1}}', undefined],
    ['["overlay"]', undefined],
    ['"overlay"', undefined],
    ['null', undefined],
    ['{"overlay":', undefined],
    ['', undefined],
  ])('%s', (metadata, overlay) => {
    expect(overlayIn(metadata)).toBe(overlay)
  })
})
