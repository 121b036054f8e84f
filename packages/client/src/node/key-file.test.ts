import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { readKeyFile, writeKeyFile } from './key-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'runnel-key-'))
afterAll(() => rmSync(directory, { recursive: true }))
const key = 'c0de'.repeat(16)
const at = (name: string) => join(directory, name)

describe('a key file', () => {
  it('is read as it was written, and only its owner may read it', () => {
    writeKeyFile(at('key'), `0x${key}`)
    expect(statSync(at('key')).mode & 0o777).toBe(0o600)
    expect(readKeyFile(at('key'))).toBe(key)
  })

  it('is never overwritten', () => {
    writeKeyFile(at('first'), key)
    expect(() => writeKeyFile(at('first'), 'd00d'.repeat(16))).toThrow(
      expect.objectContaining({ code: 'KEY_FILE_EXISTS' }),
    )
    expect(readFileSync(at('first'), 'utf8')).toContain(key)
  })

  it('is not left behind, cut off, where the disk is full', () => {
    const full = at('full')
    mkdirSync(full)
    // One page, which is taken; needs root.
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', full])
    try {
      writeFileSync(join(full, 'taken'), Buffer.alloc(4096))
      expect(() => writeKeyFile(join(full, 'key'), key)).toThrow(
        expect.objectContaining({ code: 'KEY_FILE_UNWRITABLE', message: expect.stringContaining('ENOSPC') }),
      )
      expect(readdirSync(full)).toEqual(['taken'])
      rmSync(join(full, 'taken'))
      writeKeyFile(join(full, 'key'), key)
      expect(readKeyFile(join(full, 'key'))).toBe(key)
    } finally {
      execFileSync('umount', [full])
    }
  })

  it.each([key, `0x${key.toUpperCase()}`])('is not the key itself, which no error repeats: %s', (given) => {
    const caught = (() => {
      try {
        return readKeyFile(given)
      } catch (error) {
        return error
      }
    })()
    expect(caught).toMatchObject({
      code: 'KEY_FILE_MISSING',
      message: expect.stringContaining('a key in place of the path'),
    })
    expect(inspect(caught)).not.toMatch(/c0dec0de/i)
  })

  it('that others may read is refused, with the command that closes it', () => {
    writeKeyFile(at('open'), key)
    chmodSync(at('open'), 0o640)
    expect(() => readKeyFile(at('open'))).toThrow(
      expect.objectContaining({
        code: 'KEY_FILE_TOO_OPEN',
        remedy: expect.stringContaining(`chmod 600 ${at('open')}`),
        message: expect.stringContaining('mode 640'),
      }),
    )
  })

  it('has its codes for what is wrong, and never quotes the key', () => {
    writeFileSync(at('bad'), `${key}x`, { mode: 0o600 })
    expect(() => readKeyFile(at('bad'))).toThrow(
      expect.objectContaining({ code: 'INVALID_KEY', message: `Not a private key: ${at('bad')}` }),
    )
    writeFileSync(at('json'), '{}', { mode: 0o600 })
    expect(() => readKeyFile(at('json'))).toThrow(
      expect.objectContaining({
        code: 'INVALID_KEY',
        message: expect.stringMatching(/json: .* --as, .* key import/),
      }),
    )
    expect(() => readKeyFile(at('none'))).toThrow(expect.objectContaining({ code: 'KEY_FILE_MISSING' }))
    expect(() => writeKeyFile(at('no/such/key'), key)).toThrow(
      expect.objectContaining({ code: 'KEY_FILE_UNWRITABLE' }),
    )
    expect(() => writeKeyFile(at('short'), 'abc')).toThrow(expect.objectContaining({ code: 'INVALID_KEY' }))
  })
})
