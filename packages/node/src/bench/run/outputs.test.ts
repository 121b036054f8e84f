import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { newDirectory } from '../../cli.testkit.ts'
import { Outputs } from './outputs.ts'

it('keeps what an earlier run wrote until there is a result', async () => {
  const [csv, report] = ['old.csv', 'old.html'].map((name) => join(newDirectory(), name))
  for (const file of [csv, report]) writeFileSync(`${file}`, 'old')
  const outputs = await Outputs.open({ csv, report, json: true, prometheus: undefined })
  await outputs.stop()
  for (const file of [csv, report]) expect(readFileSync(`${file}`, 'utf8')).toBe('old')
})
