import { describe, expect, it } from 'vitest'
import { recordNames } from './record-names.ts'

describe('recordNames', () => {
  it('leaves folders out where names differ', () => {
    expect(recordNames(['/a/one.json', 'b/two.json'])).toEqual(['one', 'two'])
  })

  it('keeps the folders that tell files of one name apart', () => {
    expect(recordNames(['/a/x/p.json', '/b/x/p.json', '/b/y/p.json'])).toEqual(['a/x/p', 'b/x/p', 'b/y/p'])
  })

  it.each([
    ['a file', ['a/p.json', './a/p.json']],
    ['a name with and without its end', ['a/p', 'a/p.json']],
  ])('refuses %s twice', (_, files) => {
    expect(() => recordNames(files)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error)
  })
})
