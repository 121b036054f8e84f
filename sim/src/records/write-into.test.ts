import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { writeInto } from './write-into.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runnel-write-into-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

it('writes a file in place of one there is, into a folder that it makes', () => {
  const folder = join(newFolder(), 'new')
  writeInto(folder, 'record.json', 'a long one')
  expect(readFileSync(writeInto(folder, 'record.json', 'one'), 'utf8')).toBe('one')
  expect(readdirSync(folder)).toEqual(['record.json'])
})

it('says what cannot be written, and leaves no part of it', () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'record.json'))
  const message = expect.stringContaining('record.json (EISDIR)') as string
  expect(() => writeInto(folder, 'record.json', 'one')).toThrow(
    expect.objectContaining({ code: 'OUT_UNWRITABLE', message }),
  )
  expect(readdirSync(folder)).toEqual(['record.json'])
  expect(() => writeInto('/dev/full', 'record.json', 'one')).toThrow(
    expect.objectContaining({ code: 'OUT_UNWRITABLE' }),
  )
})
