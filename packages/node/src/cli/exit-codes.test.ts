import { expect, it } from 'vitest'
import { exitCodeFor } from './exit-codes.ts'

it('is the one of what is not available, where no storage node answers', () => {
  expect(['CARDS_UNAVAILABLE', 'NO_STORAGE_NODE'].map(exitCodeFor)).toEqual([69, 69])
})
