import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nativePackages, platforms } from './native-packages.testkit.ts'
import { root } from './packed.testkit.ts'

const page = readFileSync(join(root, 'docs/installing.md'), 'utf8')
const cells = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
/** The rows of the first table whose first heading this is. */
function tableOf(heading: string): string[][] {
  const lines = page.split('\n')
  const rest = lines.slice(lines.findIndex((line) => cells(line)[0] === heading))
  return rest.slice(0, rest.indexOf('')).map(cells)
}

describe('the table of native packages in docs/installing.md', () => {
  const [header = [], , ...rows] = tableOf('platform')

  it('has every package with machine code that ours stand on', () => {
    const names = header.slice(1).map((cell) => cell.replaceAll('`', ''))
    expect(names.toSorted()).toEqual([...nativePackages().keys()].toSorted())
  })

  it('says for which platforms each brings it', () => {
    expect(rows.map(([platform]) => platform)).toEqual(Object.keys(platforms))
    for (const [name, there] of nativePackages()) {
      const column = header.indexOf(`\`${name}\``)
      const said = rows.filter((row) => row[column] === 'yes').map(([platform]) => platform)
      expect(said, name).toEqual(there)
    }
  })
})
