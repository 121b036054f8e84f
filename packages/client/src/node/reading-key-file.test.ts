import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { exportReadingKey } from '../encryption/export-reading-key.ts'
import { keySigner } from '../identity/key-signer.ts'
import { readReadingKeyFile, writeReadingKeyFile } from './reading-key-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'runnel-reading-key-'))
afterAll(() => rmSync(directory, { recursive: true }))
const at = (name: string) => join(directory, name)

const held = await exportReadingKey(keySigner('a11c'.repeat(16)), { chainId: 31337, generation: 2 })
const { userId, secret } = held

describe('a reading key file', () => {
  it('is read as it was written, and only its owner may read it', () => {
    writeReadingKeyFile(at('good'), held)
    expect(statSync(at('good')).mode & 0o777).toBe(0o600)
    expect(readReadingKeyFile(at('good'))).toEqual(held)
    expect(JSON.parse(readFileSync(at('good'), 'utf8'))).toEqual({ version: 1, ...held })
    writeReadingKeyFile(at('bare'), { userId, generation: 0, secret })
    expect(readReadingKeyFile(at('bare'))).toEqual({ userId, generation: 0, secret })
  })

  it('is never overwritten', () => {
    writeReadingKeyFile(at('first'), held)
    expect(() => writeReadingKeyFile(at('first'), held)).toThrow(
      expect.objectContaining({ code: 'READING_KEY_FILE_EXISTS' }),
    )
  })

  it('that others may read is refused, with what to do', () => {
    writeReadingKeyFile(at('open'), held)
    chmodSync(at('open'), 0o640)
    expect(() => readReadingKeyFile(at('open'))).toThrow(
      expect.objectContaining({
        code: 'READING_KEY_FILE_TOO_OPEN',
        message: expect.stringContaining('mode 640'),
        remedy: expect.stringMatching(/chmod 600 .* runnel reading-key rotate/),
      }),
    )
  })

  it.each<[string, string]>([
    [secret, 'is not JSON'],
    ['{}', 'version'],
    [JSON.stringify({ version: 2, ...held }), 'version'],
    [JSON.stringify({ version: 1, ...held, secret: secret.slice(0, -2) }), 'secret'],
    [JSON.stringify({ version: 1, ...held, generation: 2 ** 32 }), 'generation'],
    [JSON.stringify({ version: 1, ...held, userId: '0x12' }), 'userId'],
    [JSON.stringify({ version: 1, ...held, card: '0x0102' }), 'Unexpected end|truncated|ends'],
  ])('with a mistake is refused without quoting it: %#', (text, mistake) => {
    const path = at('wrong')
    rmSync(path, { force: true })
    writeFileSync(path, text, { mode: 0o600 })
    const error = thrownBy(() => readReadingKeyFile(path))
    expect(error).toMatchObject({ code: 'READING_KEY_FILE_INVALID' })
    expect(error.message).toMatch(new RegExp(mistake))
    expect(`${error.message} ${error.stack ?? ''}`).not.toContain(secret.slice(2, 18))
  })

  it('that is not there: the error says who makes one', () => {
    expect(() => readReadingKeyFile(at('gone'))).toThrow(
      expect.objectContaining({ code: 'READING_KEY_FILE_MISSING' }),
    )
  })
})

function thrownBy(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('nothing was thrown')
}
