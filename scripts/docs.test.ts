import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { apiPage } from './api-page.ts'
import { decisionsPage } from './decisions-page.ts'
import { errorsPage } from './errors-page.ts'
import { limitsPage } from './limits-page.ts'
import { metricsPage } from './metrics-page.ts'
import { protocolPage } from './packets-page.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** What stands in `back quotes` and looks like a path of this repository, perhaps with `#` and an identifier of that file; not what a build writes. */
function pathsIn(markdown: string): string[] {
  const quoted = [...markdown.matchAll(/`([^`\s]+)`/g)].map((match) => match[1] ?? '')
  const folders = /^(packages|contracts|bench|docs|scripts|sim|emulation|examples|aws|\.ci)\//
  return quoted.filter((text) => folders.test(text) && !/[*<{…]|\/dist\//.test(text))
}

/** Whether the file exists and, after a `#`, has the identifier. */
function exists(reference: string): boolean {
  const [path = '', identifier] = reference.split('#')
  if (!existsSync(join(root, path))) return false
  return identifier === undefined || new RegExp(`\\b${identifier}\\b`).test(read(path))
}

/** The targets of links to files of this repository. */
function linksIn(markdown: string): string[] {
  return [...markdown.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map((match) => match[1] ?? '')
}

/** The `[path, heading's id]` of links to a heading of a page of this repository; the path is empty for the same page. */
function headingLinksIn(markdown: string): [path: string, id: string][] {
  const links = markdown.matchAll(/\]\((?!https?:)((?:[^)#\s]+\.md)?)#([^)\s]+)\)/g)
  return [...links].map(([, path = '', id = '']) => [path, id])
}

/** The ids that GitHub gives to headings: those that are alike are numbered. */
function headingIds(markdown: string): Set<string> {
  const ids = new Set<string>()
  for (const [, heading = ''] of markdown.replace(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)) {
    const text = heading.replace(/\[(.*?)\]\(.*?\)/g, '$1').toLowerCase()
    const id = text.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')
    let number = 0
    while (ids.has(number === 0 ? id : `${id}-${number}`)) number++
    ids.add(number === 0 ? id : `${id}-${number}`)
  }
  return ids
}

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

describe('the documentation', () => {
  it('notices a file or an identifier that is gone', () => {
    const page = '`docs/none.md` `scripts/limits-page.ts#none` `scripts/limits-page.ts#limitsPage`'
    expect(pathsIn(page).map(exists)).toEqual([false, false, true])
  })

  it('notices a heading that is gone', () => {
    expect(headingLinksIn('[one](a.md#b) [two](#c) [three](https://d.example/#e)')).toEqual([
      ['a.md', 'b'],
      ['', 'c'],
    ])
    expect([...headingIds('# `a` [b](c)!\n\n## A b\n')]).toEqual(['a-b', 'a-b-1'])
  })

  it('has a file and an identifier in each step of a journey', () => {
    const journeys = read('docs/ARCHITECTURE.md')
      .split(/^## /m)
      .filter((section) => section.startsWith('Journey'))
    const steps = journeys.flatMap((journey) => journey.match(/^\d+\. .*$/gm) ?? [])
    expect(steps).not.toEqual([])
    expect(steps.filter((step) => !pathsIn(step).some((path) => path.includes('#')))).toEqual([])
  })

  it('lists every error code, as the code has it', () => {
    expect(read('docs/errors.md')).toBe(errorsPage())
  })

  it('has every name that applications import, with its docstring', () => {
    const page = apiPage()
    expect(read('docs/api/client.md')).toBe(page)
    const undocumented = [...page.matchAll(/^### `(\w+)`\n\n```/gm)].map(([, name]) => name)
    expect(undocumented).toEqual([])
  })

  it('lists every decision with its title', () => {
    expect(read('docs/decisions/README.md')).toBe(decisionsPage())
  })

  it('lists every limit with its meaning and default, as the code has it', async () => {
    expect(read('docs/limits.md')).toBe(await limitsPage())
  })

  it('lists every metric, as nodes and trackers serve it', async () => {
    expect(read('docs/metrics.md')).toBe(await metricsPage())
  })

  it('lists every packet, as the code has it, and what it is made of', () => {
    const page = read('docs/protocol.md')
    expect(page).toBe(protocolPage(page))
    expect(page).not.toContain('not described yet')
  })

  it.each(pages)('%s links only to headings that exist', (page) => {
    const missing = headingLinksIn(read(page)).filter(([path, id]) => {
      const target = path === '' ? page : join(dirname(page), path)
      return !headingIds(read(target)).has(id)
    })
    expect(missing).toEqual([])
  })

  it.each(pages)('%s names only files and identifiers that exist', (page) => {
    const text = read(page)
    const missing = [
      ...pathsIn(text).filter((reference) => !exists(reference)),
      ...linksIn(text).filter((path) => !existsSync(join(root, dirname(page), path))),
    ]
    expect(missing).toEqual([])
  })
})
