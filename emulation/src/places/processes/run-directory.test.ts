import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openRunDirectory } from './run-directory.ts'

it('makes a folder, and removes those of processes that are no more, and nothing else', () => {
  const parent = mkdtempSync(join(tmpdir(), 'runnel-test-'))
  onTestFinished(() => rmSync(parent, { recursive: true }))
  const { pid: ended } = spawnSync('true')
  const [dead, ofParent, foreign] = [`runnel-emulation-${ended}-a`, `runnel-emulation-${process.ppid}-a`, 'x']
  for (const name of [dead, ofParent, foreign]) mkdirSync(join(parent, name, 'deep'), { recursive: true })
  const mine = openRunDirectory(parent)
  const isThere = (name: string) => existsSync(join(parent, name))
  expect([dead, ofParent, foreign].map(isThere)).toEqual([false, true, true])
  expect(existsSync(openRunDirectory(parent))).toBe(true)
  expect(existsSync(mine)).toBe(true)
})
