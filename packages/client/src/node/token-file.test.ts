import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readTokenFile } from './token-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'runnel-token-'))
afterAll(() => rmSync(directory, { recursive: true }))
const at = (name: string) => join(directory, name)
const write = (name: string, text: string, mode = 0o600) => writeFileSync(at(name), text, { mode })

it('A token is what is in its file, without the end of the line', () => {
  write('token', 'eyJhbGciOi.J9-_~+/=\n')
  expect(readTokenFile(at('token'))).toBe('eyJhbGciOi.J9-_~+/=')
})

it.each([
  ['TOKEN_FILE_MISSING', 'none', undefined, 0],
  ['TOKEN_FILE_UNREADABLE', '.', undefined, 0],
  ['TOKEN_FILE_TOO_OPEN', 'open', 'secret', 0o644],
  ['TOKEN_FILE_INVALID', 'empty', '\n', 0o600],
  ['TOKEN_FILE_INVALID', 'two', 'secret\nsecret', 0o600],
  ['TOKEN_FILE_INVALID', 'other', 'secr\u00e9t', 0o600],
])('%s: %s', (code, name, text, mode) => {
  if (text !== undefined) write(name, text, mode)
  const refused = expect.objectContaining({ code, message: expect.not.stringContaining('secr') })
  expect(() => readTokenFile(at(name))).toThrow(refused)
})
