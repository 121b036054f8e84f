import { readFileSync, renameSync } from 'node:fs'
import {
  checkNetworkDocument,
  parseStaticNetwork as parseNetwork,
  signNetworkDocument,
  type CheckedDocument,
  type NetworkDocument,
} from '@runnel/client/network-document'
import { createIdentity, loadCrypto, parsePrivateKey, type NodeId } from '@runnel/protocol'
import { nodeError } from '../errors.ts'
import { writeTextFile } from './write-file.ts'

/** Reads a signed document. Throws FILE_UNREADABLE, NETWORK_DOCUMENT_INVALID or NETWORK_DOCUMENT_NOT_OWNERS. */
export async function readDocument(file: string, owner?: NodeId): Promise<CheckedDocument> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw nodeError('FILE_UNREADABLE', `${file} (${(cause as NodeJS.ErrnoException).code})`, { cause })
  }
  return checkNetworkDocument(text, owner, { crypto: await loadCrypto(), parseNetwork })
}

/** Signs a document and puts it in place of the one before, at once. Throws NETWORK_DOCUMENT_NOT_OWNERS, DISK_FULL or FILE_UNWRITABLE. */
export async function writeDocument(
  file: string,
  document: NetworkDocument,
  privateKey: string,
): Promise<void> {
  const crypto = await loadCrypto()
  const text = signNetworkDocument(document, createIdentity(parsePrivateKey(privateKey), crypto), {
    crypto,
    parseNetwork,
  })
  const draft = `${file}.new`
  writeTextFile(draft, text)
  renameSync(draft, file)
}
