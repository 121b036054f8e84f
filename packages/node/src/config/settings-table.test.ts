import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { settingsTable } from './settings-table.ts'

/** Prettier pads the cells of a table; the words are what counts. */
const words = (table: string) => table.replace(/ +/g, ' ').replace(/-+/g, '-').trim()

describe('settingsTable', () => {
  it('is what the README says', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const documented = /<!-- settings -->([^]*)<!-- end of settings -->/.exec(readme)?.[1] ?? ''
    expect(words(documented)).toBe(words(settingsTable()))
  })
})
