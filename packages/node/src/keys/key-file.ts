import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeKeyFile } from '@runnel/client'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  parsePrivateKey,
  type NodeId,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'

/** A private key and its id. */
export interface NamedKey {
  /** 64 hexadecimal digits. */
  readonly privateKey: string
  readonly nodeId: NodeId
}

/** Makes a key and writes it to a file only its owner can read. Throws KEY_FILE_EXISTS or KEY_FILE_UNWRITABLE. */
export async function createKeyFile(path: string): Promise<NamedKey> {
  mkdirSync(dirname(path), { recursive: true })
  return saveKey(path, randomKey())
}

/** Writes a key to a file only its owner can read. Throws INVALID_KEY, KEY_FILE_EXISTS or KEY_FILE_UNWRITABLE. */
export async function saveKey(path: string, privateKey: string): Promise<NamedKey> {
  writeKeyFile(path, privateKey)
  return nameKey(privateKey)
}

/** A new key: 64 hexadecimal digits. */
export function randomKey(): string {
  return Buffer.from(generatePrivateKey(systemRandom)).toString('hex')
}

/** The id of a key. Throws INVALID_KEY, without quoting the key. */
export async function nameKey(privateKey: string): Promise<NamedKey> {
  const crypto = await loadCrypto()
  return { privateKey, nodeId: createIdentity(parsePrivateKey(privateKey), crypto).nodeId }
}
