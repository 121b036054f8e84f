import { existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { newDirectory } from '../cli.testkit.ts'
import { requireWritable } from './write-file.ts'

it('looks whether a file can be written without a change to it', () => {
  const file = join(newDirectory(), 'old.csv')
  writeFileSync(file, 'old')
  requireWritable(file)
  expect(readFileSync(file, 'utf8')).toBe('old')
})

it('leaves no file that was not there', () => {
  const [file, link] = ['new.csv', 'link.csv'].map((name) => join(newDirectory(), name))
  symlinkSync(`${file}`, `${link}`)
  for (const path of [`${file}`, `${link}`]) requireWritable(path)
  expect(existsSync(`${file}`)).toBe(false)
  expect(lstatSync(`${link}`).isSymbolicLink()).toBe(true)
})

it('says that a file cannot be written', () => {
  const path = join(newDirectory(), 'no', 'such', 'folder.csv')
  expect(() => requireWritable(path)).toThrow(expect.objectContaining({ code: 'FILE_UNWRITABLE' }))
})
