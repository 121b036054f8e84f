import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { softwareVersion } from './version.ts'

it('is the version of the package', () => {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  expect(JSON.parse(manifest)).toMatchObject({ version: softwareVersion })
})
