import { ciphers, encodeCard, loadCrypto, toHex } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { ReadingKeyConfig } from '../config.ts'
import type { RequestModules } from '../identity/request-delegation.ts'
import { keysOnly } from '../identity/request-signature.ts'
import type { StatementSigner } from '../identity/signer.ts'
import { SignedReadingKeys } from './reading-key-sources.ts'

/**
 * Returns the reading key of a signer's user, with a card for it, for a process that has only a delegation: its `ClientConfig.readingKey`.
 * Asks a wallet three times. Anyone who gets the key can read everything that is encrypted for the user, also after the delegation ends.
 * Throws NO_READING_KEY, READING_KEY_CHANGED, and errors of the signer.
 */
export async function exportReadingKey(
  signer: StatementSigner,
  { chainId, generation = 0 }: { readonly chainId: number; readonly generation?: number | undefined },
  { accounts = keysOnly, crypto, clock = systemClock }: RequestModules = {},
  signal?: AbortSignal,
): Promise<ReadingKeyConfig> {
  const { cardPublicKeyOf } = await import('./card-key.ts')
  const modules = { accounts, ciphers, clock, crypto: crypto ?? (await loadCrypto()) }
  const source = new SignedReadingKeys({ signer, chainId }, modules)
  const readingKey = await source.readingKey(generation, signal)
  const card = await source.signCard(generation, await cardPublicKeyOf(ciphers, readingKey), signal)
  return { userId: card.userId, generation, secret: toHex(readingKey), card: toHex(encodeCard(card)) }
}
