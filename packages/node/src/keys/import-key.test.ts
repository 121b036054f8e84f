import { encryptKeystoreJson } from 'ethers'
import { describe, expect, it } from 'vitest'
import { ethereumPath, importKey, type ImportOptions } from './import-key.ts'

/** Of the development networks of Hardhat and Foundry, whose keys everybody knows. */
const mnemonic = 'test test test test test test test test test test test junk'
const firstKey = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const secondKey = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
/** The keystores of the Web3 Secret Storage definition: key and password are in its text. */
const published = {
  key: '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d',
  password: 'testpassword',
  pbkdf2: {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
      ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
      kdf: 'pbkdf2',
      kdfparams: {
        ...{ c: 262144, dklen: 32, prf: 'hmac-sha256' },
        salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
      },
      mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
    },
    id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
    version: 3,
  },
} as const

const unasked: ImportOptions = {
  derivationPath: ethereumPath,
  passphrase: undefined,
  password: () => Promise.reject(new Error('nobody should be asked')),
}

describe('importKey', () => {
  it('takes hexadecimal digits as they are', async () => {
    expect(await importKey(` 0x${firstKey.toUpperCase()}\n`, unasked)).toBe(firstKey)
  })

  it('derives the key of a mnemonic by the path given', async () => {
    expect(await importKey(`${mnemonic.replace(' ', '\n  ').toUpperCase()}\n`, unasked)).toBe(firstKey)
    const second = { ...unasked, derivationPath: "m/44'/60'/0'/0/1" }
    expect(await importKey(mnemonic, second)).toBe(secondKey)
    expect(await importKey(mnemonic, { ...unasked, passphrase: 'x' })).not.toBe(firstKey)
  })

  it('opens keystores with their password', async () => {
    const password = async () => published.password
    expect(await importKey(JSON.stringify(published.pbkdf2), { ...unasked, password })).toBe(published.key)
    const account = { address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', privateKey: `0x${firstKey}` }
    const scrypt = await encryptKeystoreJson(account, 'pässword', { scrypt: { N: 2 } })
    expect(await importKey(scrypt, { ...unasked, password: async () => 'pässword' })).toBe(firstKey)
  })

  const { crypto } = published.pbkdf2
  const keystore = (changed: object) => JSON.stringify({ ...published.pbkdf2, ...changed })
  it.each<[string, string, string, string]>([
    ['nothing', ' \n', 'INVALID_KEY', 'nothing to import'],
    ['a key without its end', firstKey.slice(1), 'INVALID_KEY', 'Not a private key'],
    ['a number beyond the curve', 'f'.repeat(64), 'INVALID_KEY', 'Not a private key'],
    ['a mistyped word', mnemonic.replace('junk', 'test-junk'), 'MNEMONIC_INVALID', 'word 12 is not one'],
    ['words in another order', mnemonic.replace('junk', 'test'), 'MNEMONIC_INVALID', 'checksum'],
    ['too few words', mnemonic.replace(' junk', ''), 'MNEMONIC_INVALID', 'it has 11 words'],
    ['half a keystore', '{"version": 3', 'KEYSTORE_INVALID', 'no JSON keystore of version 3'],
    ['an old keystore', keystore({ version: 1 }), 'KEYSTORE_INVALID', 'no JSON keystore of version 3'],
    ['a wrong password', keystore({ crypto: { ...crypto, mac: '00' } }), 'KEYSTORE_PASSWORD_WRONG', ''],
    ['another KDF', keystore({ crypto: { ...crypto, kdf: 'md5' } }), 'KEYSTORE_INVALID', 'key-derivation'],
    ['another cipher', keystore({ crypto: { ...crypto, cipher: 'x' } }), 'KEYSTORE_INVALID', 'cipher'],
    ['no ciphertext', keystore({ crypto: { ...crypto, ciphertext: 1 } }), 'KEYSTORE_INVALID', ''],
    ['a wrong address', keystore({ address: '0'.repeat(40) }), 'KEYSTORE_INVALID', 'mismatch'],
  ])('refuses %s, without quoting it', async (_, text, code, message) => {
    const password = async () => published.password
    const error: unknown = await importKey(text, { ...unasked, password }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(String(error)).not.toMatch(/test|ac0974|7a28b5/)
  })

  it.each(['44/60', 'm/44h', 'm//0', "m/44'/60'/0'/0/2147483648"])('refuses the path %s', async (path) => {
    await expect(importKey(mnemonic, { ...unasked, derivationPath: path })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(`--derivation-path`),
    })
  })
})
