import { describe, expect, it } from 'vitest'
import * as page from './browser/index.ts'
import * as client from './index.ts'

it('exports what it promises, and nothing else', () => {
  expect(Object.keys(client).sort()).toEqual([
    'RunnelError',
    'cardFingerprint',
    'clientError',
    'clientErrors',
    'createClient',
    'createdToleranceMs',
    'exportReadingKey',
    'forgetSession',
    'isRunnelError',
    'isTrackerUrl',
    'keySigner',
    'keysOnly',
    'memoryStore',
    'oldestOfStreamMs',
    'openRegistry',
    'openSession',
    'originStore',
    'partitionOfKey',
    'predates',
    'readDelegationFile',
    'readKeyFile',
    'readNetworkFile',
    'readReadingKeyFile',
    'readTokenFile',
    'readUserFile',
    'remoteSigner',
    'requestDelegation',
    'shownUrl',
    'splitHeaders',
    'storedKey',
    'typeInside',
    'walletSigner',
    'writeDelegationFile',
    'writeKeyFile',
    'writeReadingKeyFile',
  ])
})

describe('the entry for pages', () => {
  it('exports the same names with the same types', () => {
    expect(Object.keys(page).sort()).toEqual(Object.keys(client).sort())
    // The types that an application sees are those of Node's entry, wherever it runs.
    const names = [page satisfies typeof client, client satisfies typeof page]
    expect(names).toHaveLength(2)
  })

  it.each([
    ['readNetworkFile', () => page.readNetworkFile('x')],
    ['readKeyFile', () => page.readKeyFile('x')],
    ['writeKeyFile', () => page.writeKeyFile('x', '1'.repeat(64))],
    ['readDelegationFile', () => page.readDelegationFile('x')],
    ['writeDelegationFile', () => page.writeDelegationFile('x', { privateKey: '', delegation: '0x' })],
    ['readTokenFile', () => page.readTokenFile('x')],
    ['readReadingKeyFile', () => page.readReadingKeyFile('x')],
    ['writeReadingKeyFile', () => page.writeReadingKeyFile('x', { userId: '', generation: 0, secret: '' })],
    ['readUserFile', () => page.readUserFile('x')],
  ])('says of %s what to use instead', (name, use) => {
    const refusal = { code: 'NOT_IN_PAGES', message: expect.stringContaining(name) as string }
    expect(use).toThrow(expect.objectContaining({ ...refusal, remedy: expect.stringContaining('storedKey') }))
  })

  it('refuses a network file', async () => {
    const network = { kind: 'static', file: 'network.json' } as const
    await expect(page.openRegistry({ network })).rejects.toMatchObject({ code: 'NOT_IN_PAGES' })
  })
})

describe('the entry for Node', () => {
  it('says of what keeps something in a browser what to use instead', async () => {
    const refusal = { code: 'ONLY_IN_PAGES', remedy: expect.stringContaining('readKeyFile') as string }
    await expect(client.storedKey()).rejects.toMatchObject(refusal)
    expect(() => client.originStore()).toThrow(expect.objectContaining(refusal))
  })
})
