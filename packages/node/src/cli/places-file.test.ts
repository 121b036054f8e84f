import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newDirectory } from '../cli.testkit.ts'
import { readPlaces } from './places-file.ts'

const id = `0x${'a'.repeat(40)}`
const place = { latitude: -33.9, longitude: 18.4, name: 'Cape Town' }

function fileOf(text: string): string {
  const file = join(newDirectory(), 'places.json')
  writeFileSync(file, text)
  return file
}

describe('readPlaces', () => {
  it('reads where nodes are', () => {
    expect(readPlaces(fileOf(JSON.stringify({ [id]: place })))).toEqual({ [id]: place })
  })

  it.each([
    '{',
    '[]',
    JSON.stringify({ Bob: place }),
    JSON.stringify({ [id]: { ...place, latitude: 91 } }),
    JSON.stringify({ [id]: { ...place, name: 'x'.repeat(65) } }),
  ])('refuses %s', (text) => {
    expect(() => readPlaces(fileOf(text))).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })

  it('says when there is no file', () => {
    expect(() => readPlaces('gone.json')).toThrow(expect.objectContaining({ code: 'FILE_UNREADABLE' }))
  })
})
