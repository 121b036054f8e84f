import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newDirectory } from '../cli.testkit.ts'
import { makeDelegation, saveDelegation } from './delegations.ts'
import { createKeyFile, nameKey } from './key-file.ts'
import { requireUserKey, resolveUser } from './resolve-user.ts'

const directory = newDirectory()
const at = (name: string) => join(directory, name)
const [alice, bob, carol] = ['a11c'.repeat(16), 'b0b0'.repeat(16), 'ca01'.repeat(16)]
writeFileSync(at('alice.key'), alice, { mode: 0o600 })
writeFileSync(at('bob.key'), `${bob}\n`, { mode: 0o600 })
const delegation = await makeDelegation(alice, {
  ...{ chainId: 1, delegateId: (await nameKey(bob)).nodeId, fromMs: 1, untilMs: 2 },
  ...{ publishes: true, reads: true, streams: [], requester: 'a test' },
})
saveDelegation(at('bob.delegation'), bob, delegation)

describe('resolveUser', () => {
  const delegated = { delegation: { privateKey: `0x${bob}`, delegation: expect.stringMatching(/^0x01/) } }

  it('takes a delegation file, or a key file', () => {
    expect(resolveUser({ as: at('bob.delegation'), env: {} })).toEqual(delegated)
    expect(resolveUser({ as: at('alice.key'), env: {} })).toEqual({ privateKey: alice })
  })

  it('takes the command line over the environment, and there who acts over keys', () => {
    const env = { RUNNEL_AS: at('bob.delegation'), RUNNEL_KEY: at('bob.key'), RUNNEL_PRIVATE_KEY: carol }
    expect(resolveUser({ as: at('alice.key'), env })).toEqual({ privateKey: alice })
    expect(resolveUser({ key: at('alice.key'), env })).toEqual({ privateKey: alice })
    expect(resolveUser({ env })).toEqual(delegated)
    expect(resolveUser({ env: { ...env, RUNNEL_AS: '' } })).toEqual({ privateKey: bob })
    expect(resolveUser({ env: { RUNNEL_PRIVATE_KEY: carol } })).toEqual({ privateKey: carol })
    expect(resolveUser({ env: {} })).toBeUndefined()
  })

  it('says what is wrong with a file', async () => {
    const fails = (as: string, code: string) =>
      expect(() => resolveUser({ as, env: {} })).toThrow(expect.objectContaining({ code }))
    fails(at('gone'), 'DELEGATION_FILE_MISSING')
    writeFileSync(at('open'), '{}', { mode: 0o644 })
    fails(at('open'), 'DELEGATION_FILE_TOO_OPEN')
    writeFileSync(at('keystore'), '{"crypto":{},"version":3}', { mode: 0o600 })
    fails(at('keystore'), 'DELEGATION_FILE_INVALID')
    writeFileSync(at('text'), 'hello', { mode: 0o600 })
    fails(at('text'), 'INVALID_KEY')
    await createKeyFile(at('new.key'))
    expect(resolveUser({ as: at('new.key'), env: {} })).toMatchObject({ privateKey: expect.any(String) })
  })
})

describe('requireUserKey', () => {
  it('takes no delegation, which signs no transactions', () => {
    expect(requireUserKey({ as: at('alice.key'), env: {} })).toEqual({ privateKey: alice })
    const fails = (as: string | undefined, code: string) =>
      expect(() => requireUserKey({ as, env: {} })).toThrow(expect.objectContaining({ code }))
    fails(at('bob.delegation'), 'NO_USER_KEY')
    fails(undefined, 'KEY_REQUIRED')
  })
})
