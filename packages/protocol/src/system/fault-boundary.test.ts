import { expect, it } from 'vitest'
import { FaultBoundary } from './fault-boundary.ts'

const create = () => {
  const faults: string[] = []
  const boundary = new FaultBoundary<string>((owner, error) => faults.push(`${owner}: ${String(error)}`))
  return { boundary, faults }
}
const fail = (): never => {
  throw new Error('broken')
}

it('gives what the work gives, and undefined for work that throws', () => {
  const { boundary, faults } = create()
  expect(boundary.within('a', () => 1)).toBe(1)
  expect(boundary.within('a', fail)).toBeUndefined()
  expect(faults).toEqual(['a: Error: broken'])
})

it('goes on with the work around that of another owner', () => {
  const { boundary, faults } = create()
  const outer = boundary.within('a', () => {
    boundary.within('b', fail)
    return 'done'
  })
  expect(outer).toBe('done')
  expect(faults).toEqual(['b: Error: broken'])
})

it('ends all work of an owner at once, when one piece of it throws within another', () => {
  const { boundary, faults } = create()
  let isReached = false
  boundary.within('a', () => {
    boundary.within('b', () => {
      boundary.within('b', fail)
      isReached = true
    })
  })
  expect(isReached).toBe(false)
  expect(faults).toEqual(['b: Error: broken'])
})
