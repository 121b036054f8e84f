import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createIdentity,
  encodeDelegation,
  loadCrypto,
  parsePrivateKey,
  signDelegation,
  toHex,
} from '@runnel/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { readDelegationFile, writeDelegationFile } from './delegation-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'runnel-delegation-'))
afterAll(() => rmSync(directory, { recursive: true }))
const at = (name: string) => join(directory, name)

const crypto = await loadCrypto()
const user = createIdentity(parsePrivateKey('a11c'.repeat(16)), crypto)
const privateKey = `0x${'c0de'.repeat(16)}`
const claim = {
  ...{ chainId: 31337, userId: user.nodeId, fromMs: 1, untilMs: 2, publishes: true, reads: true },
  delegateId: createIdentity(parsePrivateKey(privateKey), crypto).nodeId,
  ...{ streams: [], requester: 'a test', block: 0 },
}
const held = { privateKey, delegation: toHex(encodeDelegation(signDelegation(claim, crypto, user))) }

describe('a delegation file', () => {
  it('is read as it was written, and only its owner may read it', () => {
    writeDelegationFile(at('good'), held)
    expect(statSync(at('good')).mode & 0o777).toBe(0o600)
    expect(readDelegationFile(at('good'))).toEqual(held)
    expect(JSON.parse(readFileSync(at('good'), 'utf8'))).toEqual({ version: 1, ...held })
  })

  it('is never overwritten', () => {
    writeDelegationFile(at('first'), held)
    expect(() => writeDelegationFile(at('first'), held)).toThrow(
      expect.objectContaining({ code: 'DELEGATION_FILE_EXISTS' }),
    )
  })

  it('that others may read is refused, with what to do', () => {
    writeDelegationFile(at('open'), held)
    chmodSync(at('open'), 0o604)
    expect(() => readDelegationFile(at('open'))).toThrow(
      expect.objectContaining({
        code: 'DELEGATION_FILE_TOO_OPEN',
        message: expect.stringContaining('mode 604'),
        remedy: expect.stringMatching(/chmod 600 .* runnel key revoke/),
      }),
    )
  })

  it.each<[string, string]>([
    ['c0dec0de', 'is not JSON'],
    ['{}', 'version'],
    [JSON.stringify({ version: 2, ...held }), 'version'],
    [JSON.stringify({ version: 1, ...held, privateKey: 'c0de' }), 'Not a private key'],
    [JSON.stringify({ version: 1, ...held, delegation: '0xc0d' }), 'delegation: must be 0x'],
    [JSON.stringify({ version: 1, ...held, delegation: held.delegation.slice(0, -2) }), 'packet'],
    [JSON.stringify({ version: 1, ...held, delegation: `${held.delegation}00` }), 'packet'],
  ])('%s is refused, and not quoted', (text, message) => {
    writeFileSync(at('bad'), text, { mode: 0o600 })
    expect(() => readDelegationFile(at('bad'))).toThrow(
      expect.objectContaining({
        code: 'DELEGATION_FILE_INVALID',
        message: expect.stringMatching(new RegExp(`^(?!.*c0de).*${message}`)),
      }),
    )
  })

  it('has its codes for what cannot be read or written', () => {
    expect(() => readDelegationFile(at('none'))).toThrow(
      expect.objectContaining({ code: 'DELEGATION_FILE_MISSING' }),
    )
    expect(() => readDelegationFile(directory)).toThrow(
      expect.objectContaining({ code: 'DELEGATION_FILE_UNREADABLE' }),
    )
    expect(() => writeDelegationFile(at('no/such/file'), held)).toThrow(
      expect.objectContaining({ code: 'DELEGATION_FILE_UNWRITABLE' }),
    )
  })
})
