import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { RunnelClient } from '../packages/client/src/runnel-client.ts'
import { withGasTable } from '../contracts/scripts/gas-table.ts'

const docs = fileURLToPath(new URL('../docs', import.meta.url))
const read = (file: string) => readFileSync(join(docs, file), 'utf8')
/** Prettier aligns tables. */
const unaligned = (text: string) => text.replace(/ +/g, ' ').replace(/-+/g, '-')

describe('docs/questions.md', () => {
  it('says what each call costs, as a real EVM charges it', { timeout: 60_000 }, async () => {
    const page = read('questions.md')
    const measured = await withGasTable(page)
    expect(measured.match(/^\| .*\d,\d{3} \|/gm)?.length).toBeGreaterThan(10)
    expect(unaligned(page)).toBe(unaligned(measured))
  })
})

describe('what a page calls', () => {
  const pages = [
    'questions.md',
    'sdk.md',
    ...readdirSync(join(docs, 'guides')).map((name) => join('guides', name)),
  ]

  it.each(pages)('docs/%s: is a method of the client', (page) => {
    const called = [...read(page).matchAll(/(?<!\/)\bclient\.([a-z]\w*)/g)].map(([, name = '']) => name)
    const own = new Set(['userId', 'nodeId', 'phases'])
    const missing = called.filter((name) => !own.has(name) && !(name in RunnelClient.prototype))
    expect(missing).toEqual([])
  })
})
