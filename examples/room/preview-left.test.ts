import { expect, it } from 'vitest'
import { previewLeft } from './preview-left.ts'

it('is at the pointer, and stays within the line', () => {
  const lefts = [0, 60, 150, 290, 300].map((pointer) => previewLeft(pointer, 300, 100))
  expect(lefts).toEqual([0, 10, 100, 200, 200])
})

it('begins where the line does if there is no room for all of it', () => {
  expect(previewLeft(80, 80, 100)).toBe(0)
})
