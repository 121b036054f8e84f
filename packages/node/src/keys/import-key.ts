import { isRunnelError, parsePrivateKey, protocolError } from '@runnel/protocol'
import { decryptKeystoreJson, HDNodeWallet, isKeystoreJson, Mnemonic } from '@runnel/contracts/ethers'
import { nodeError } from '../errors.ts'

export interface ImportOptions {
  /** Where in the tree of a mnemonic the key is (BIP-32). */
  readonly derivationPath: string
  /** Of a mnemonic, its passphrase (BIP-39); mostly there is none. */
  readonly passphrase: string | undefined
  /** Asked for the password of a keystore only. */
  password(): Promise<string>
}

/** The derivation path of Ethereum's first account (BIP-44, SLIP-44). */
export const ethereumPath = "m/44'/60'/0'/0/0"

/**
 * The private key in what a wallet exports: 64 hexadecimal digits, the words of a mnemonic (BIP-39, English), or an encrypted
 * JSON keystore (Web3 Secret Storage, version 3). 64 hexadecimal digits. Throws INVALID_KEY, MNEMONIC_INVALID, KEYSTORE_INVALID,
 * KEYSTORE_PASSWORD_WRONG, or USAGE for a derivation path that is none; none of them quotes the text.
 */
export async function importKey(text: string, options: ImportOptions): Promise<string> {
  const trimmed = text.trim()
  if (trimmed === '') throw protocolError('INVALID_KEY', 'there is nothing to import')
  const words = trimmed.split(/\s+/)
  if (trimmed.startsWith('{')) return digitsOf(await openKeystore(trimmed, options))
  return digitsOf(words.length > 1 ? deriveKey(words, options) : trimmed)
}

function digitsOf(privateKey: string): string {
  return Buffer.from(parsePrivateKey(privateKey)).toString('hex')
}

function deriveKey(words: readonly string[], { derivationPath, passphrase }: ImportOptions): string {
  checkPath(derivationPath)
  try {
    const mnemonic = Mnemonic.fromPhrase(words.join(' '), passphrase)
    return HDNodeWallet.fromMnemonic(mnemonic, derivationPath).privateKey
  } catch (error) {
    throw nodeError('MNEMONIC_INVALID', mnemonicMistake(shortMessageOf(error), words.length))
  }
}

/** Words of the library, which counts from 0, as a person counts. */
function mnemonicMistake(message: string, count: number): string {
  const index = /word at index (\d+)/.exec(message)?.[1]
  if (index !== undefined) return `word ${Number(index) + 1} is not one of its word list`
  if (message.includes('length')) return `it has ${count} words`
  return message.includes('checksum') ? 'its checksum does not fit' : message
}

function checkPath(path: string): void {
  const steps = /^m((?:\/\d+'?)*)$/.exec(path)?.[1]?.split('/').slice(1)
  if (steps === undefined || steps.some((step) => Number.parseInt(step, 10) >= 2 ** 31))
    throw nodeError('USAGE', `--derivation-path takes a path such as ${ethereumPath}, not "${path}"`)
}

async function openKeystore(json: string, { password }: ImportOptions): Promise<string> {
  if (!isKeystoreJson(json)) throw nodeError('KEYSTORE_INVALID', 'it is no JSON keystore of version 3')
  try {
    return (await decryptKeystoreJson(json, await password())).privateKey
  } catch (error) {
    if (isRunnelError(error)) throw error
    const message = shortMessageOf(error)
    throw message === 'incorrect password'
      ? nodeError('KEYSTORE_PASSWORD_WRONG')
      : nodeError('KEYSTORE_INVALID', message)
  }
}

/** Of an error of ethers what it says without the values it is about. */
function shortMessageOf(error: unknown): string {
  return error instanceof Error && 'shortMessage' in error ? String(error.shortMessage) : 'it is malformed'
}
