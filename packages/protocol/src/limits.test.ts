import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { limits } from './limits.ts'

it('docs/limits.md lists the limits of limits.ts', () => {
  const page = readFileSync(new URL('../../../docs/limits.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(max\w+)`\s*\|\s*([\d,]+)\s*\|/gm)]
  const listed = rows.map(([, name, value]) => [name, Number(value?.replaceAll(',', ''))])
  expect(listed).toEqual(Object.entries(limits))
})
