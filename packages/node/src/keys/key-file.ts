import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  parsePrivateKey,
  type NodeId,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { nodeError } from '../errors.ts'

/** A private key and the id it stands for. */
export interface NamedKey {
  /** 64 hexadecimal digits. */
  readonly privateKey: string
  readonly nodeId: NodeId
}

/** Makes a key and writes it to a file only its owner can read. Throws KEY_FILE_EXISTS. */
export async function createKeyFile(path: string): Promise<NamedKey> {
  const privateKey = Buffer.from(generatePrivateKey(systemRandom)).toString('hex')
  mkdirSync(dirname(path), { recursive: true })
  try {
    writeFileSync(path, `${privateKey}\n`, { flag: 'wx', mode: 0o600 })
    // The mode above passes through the umask; this one does not.
    chmodSync(path, 0o600)
  } catch (cause) {
    const exists = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
    throw nodeError(exists ? 'KEY_FILE_EXISTS' : 'KEY_FILE_UNREADABLE', path, { cause })
  }
  return nameKey(privateKey)
}

/** Reads a key file. Throws KEY_FILE_UNREADABLE or INVALID_KEY. */
export function readKeyFile(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw nodeError('KEY_FILE_UNREADABLE', path, { cause })
  }
  return checkedKey(text.trim())
}

/** The key as 64 hexadecimal digits. Throws INVALID_KEY, without quoting it. */
export function checkedKey(text: string): string {
  return Buffer.from(parsePrivateKey(text)).toString('hex')
}

/** The id a key stands for. Throws INVALID_KEY. */
export async function nameKey(privateKey: string): Promise<NamedKey> {
  const crypto = await loadCrypto()
  return { privateKey, nodeId: createIdentity(parsePrivateKey(privateKey), crypto).nodeId }
}
