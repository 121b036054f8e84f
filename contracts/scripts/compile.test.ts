import { readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { generatedUrl, generateModules } from './compile.ts'

it('src/generated holds what the Solidity sources compile to (else: npm run compile -w contracts)', async () => {
  const expected = await generateModules()
  expect(await readdir(generatedUrl)).toEqual([...expected.keys()].sort())
  for (const [fileName, text] of expected) {
    expect(await readFile(new URL(fileName, generatedUrl), 'utf8'), fileName).toBe(text)
  }
}, 60_000)
