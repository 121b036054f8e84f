import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newDirectory } from '../../cli.testkit.ts'
import { hashOfKey, inTurn, newApiKey, readKeysFile, writeKeysFile } from './keys-file.ts'

const file = join(newDirectory(), 'keys.json')
const keyHash = hashOfKey('rk_x')
const withKeys = (...keys: readonly unknown[]) => JSON.stringify({ version: 1, keys })

describe('a file with the keys of a gateway', () => {
  it('has defaults for what it leaves out', () => {
    writeFileSync(file, withKeys({ name: 'a', keyHash }), { mode: 0o600 })
    expect(readKeysFile(file)).toMatchObject([
      { name: 'a', keyHash, publish: [], subscribe: [], maxMessagesPerS: 1_000, maxConnections: 100 },
    ])
  })

  it.each([
    ['{', 'is not JSON'],
    ['{}', 'version'],
    [withKeys({ name: 'a' }), 'needs keyHash or certificate'],
    [withKeys({ name: 'a', keyHash: 'rk_secret' }), '64 hexadecimal digits'],
    [withKeys({ name: 'a b', keyHash }), 'letters, digits'],
    [withKeys({ name: 'a', keyHash, publish: ['sensors'] }), 'publish.0: must be'],
    [withKeys({ name: 'a', keyHash, maxMessageBytes: 2 ** 21 }), 'maxMessageBytes'],
    [withKeys({ name: 'a', keyHash }, { name: 'b', keyHash }), 'b has a keyHash twice'],
    [withKeys({ name: 'a', keyHash }, { name: 'a', certificate: keyHash }), 'a has a name twice'],
  ])('%s is refused', (text, message) => {
    writeFileSync(file, text, { mode: 0o600 })
    expect(() => readKeysFile(file)).toThrow(
      expect.objectContaining({
        code: 'GATEWAY_FILE_INVALID',
        message: expect.stringMatching(new RegExp(`^(?!.*rk_secret).*${message}`)),
      }),
    )
  })

  it('has keys of 256 random bits, which are known by their beginning', () => {
    expect(newApiKey()).toMatch(/^rk_[A-Za-z0-9_-]{43}$/)
    expect(newApiKey()).not.toBe(newApiKey())
  })

  it('is changed by one process after another', async () => {
    writeKeysFile(file, [])
    const add = (name: string, before = readKeysFile(file)) =>
      writeKeysFile(file, [...before, { name, keyHash: hashOfKey(name) }])
    let second: Promise<void> | undefined
    await inTurn(file, () => {
      const before = readKeysFile(file)
      second = inTurn(file, () => add('b'))
      add('a', before)
    })
    await second
    expect(readKeysFile(file)).toMatchObject([{ name: 'a' }, { name: 'b' }])
  })

  it('is not changed while there is the lock of a process that was killed', async () => {
    writeFileSync(`${file}.lock`, '')
    const changing = inTurn(file, () => writeKeysFile(file, []))
    await expect(changing).rejects.toMatchObject({ code: 'GATEWAY_FILE_LOCKED' })
    rmSync(`${file}.lock`)
  })
})
