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
  const privateKey = Buffer.from(generatePrivateKey(systemRandom)).toString('hex')
  mkdirSync(dirname(path), { recursive: true })
  writeKeyFile(path, privateKey)
  return nameKey(privateKey)
}

/** The id of a key. Throws INVALID_KEY, without quoting the key. */
export async function nameKey(privateKey: string): Promise<NamedKey> {
  const crypto = await loadCrypto()
  return { privateKey, nodeId: createIdentity(parsePrivateKey(privateKey), crypto).nodeId }
}
