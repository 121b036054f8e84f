import { expect, it } from 'vitest'
import { Pieces } from './pieces.ts'

it('gives back what came, in order, and keeps nothing of it', () => {
  const pieces = new Pieces()
  const sizes = [0, 1, 5000, 3, 3, 10_000, 1, 1, 0, 2]
  const sent = sizes.map((size, i) => Buffer.alloc(size, i))
  for (const piece of sent) pieces.push(piece)
  expect(pieces.take()).toEqual(Buffer.concat(sent))
  expect(pieces.take()).toEqual(Buffer.alloc(0))
})

it('keeps bytes that come one by one in few pieces', () => {
  const pieces = new Pieces()
  for (let i = 0; i < 2 ** 16; i++) pieces.push(Buffer.of(i % 251))
  expect(pieces.count).toBeLessThan(32)
  expect(pieces.take()).toEqual(Buffer.from(Array.from({ length: 2 ** 16 }, (_, i) => i % 251)))
})
