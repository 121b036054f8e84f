import { describe, expect, it } from 'vitest'
import { recordNames } from './record-names.ts'

describe('recordNames', () => {
  it('leaves folders out where names differ', () => {
    expect(recordNames(['/a/one.json', 'b/two.json'])).toEqual(['one', 'two'])
  })

  it('is the folder that tells files of one name apart', () => {
    expect(recordNames(['random/p.json', 'aware/p.json'])).toEqual(['random', 'aware'])
    expect(recordNames(['/a/x/p.json', '/b/x/p.json', '/b/y/p.json'])).toEqual(['a/x', 'b/x', 'b/y'])
    expect(recordNames(['/a/p.json', '/b/p.json', '/b/q.json'])).toEqual(['a/p', 'b/p', 'b/q'])
  })

  it.each([
    ['a file', ['a/p.json', './a/p.json']],
    ['a name with and without its end', ['a/p', 'a/p.json']],
  ])('refuses %s twice', (_, files) => {
    expect(() => recordNames(files)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error)
  })
})
