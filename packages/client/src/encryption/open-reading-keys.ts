import { decodeCard, toNodeId, type NodeId } from '@runnel/protocol'
import type { ReadingKeyConfig } from '../config.ts'
import { clientError } from '../errors.ts'
import { bytesOfHex } from '../identity/bytes-of-hex.ts'
import type { ReadingKeySource } from './ports.ts'
import {
  GivenReadingKey,
  noReadingKey,
  SignedReadingKeys,
  type ReadingKeyModules,
  type SignedReadingKeysOptions,
} from './reading-key-sources.ts'

/** Whose reading keys, and who signs for the user, if this process can ask anybody. */
export interface ReadingUser extends Partial<Pick<SignedReadingKeysOptions, 'signer' | 'kept'>> {
  readonly userId: NodeId
}

/** Where a user's reading keys come from: the one that was given, else its signatures. Throws READING_KEY_NOT_YOURS, or what decoding a card throws. */
export function openReadingKeys(
  given: ReadingKeyConfig | undefined,
  { userId, signer, kept }: ReadingUser,
  { chainId, ...modules }: ReadingKeyModules & { readonly chainId: number },
): ReadingKeySource {
  if (given === undefined)
    return signer === undefined
      ? noReadingKey(userId)
      : new SignedReadingKeys({ signer, chainId, kept }, modules)
  if (toNodeId(given.userId) !== userId)
    throw clientError('READING_KEY_NOT_YOURS', `it is of ${given.userId}, not of ${userId}`)
  const { generation, secret, card } = given
  const readingKey = bytesOfHex(secret) ?? new Uint8Array()
  const decoded = card === undefined ? undefined : decodeCard(bytesOfHex(card) ?? new Uint8Array())
  return new GivenReadingKey({ userId, generation, readingKey, chainId, card: decoded, signer }, modules)
}
