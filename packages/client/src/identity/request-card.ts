import {
  cardTypedData,
  encodeCard,
  isCardSignedByKey,
  loadCrypto,
  type Card,
  type CardClaim,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { RequestModules } from './request-delegation.ts'
import { keysOnly, requestSignature, signingUser, type Statement } from './request-signature.ts'
import type { StatementSigner } from './signer.ts'

/** What a user is asked to publish a key for. */
export type CardWish = Pick<CardClaim, 'chainId' | 'generation' | 'publicKey'>

const cards: Statement<CardClaim> = {
  typedData: cardTypedData,
  isSignedByKey: isCardSignedByKey,
  encode: encodeCard,
}

/**
 * Asks a signer's user to let others encrypt for it with a public key, from now on. Throws as `requestSignature` does, and what the chain
 * throws.
 */
export async function requestCard(
  signer: StatementSigner,
  wish: CardWish,
  { accounts = keysOnly, crypto, clock = systemClock }: RequestModules = {},
  signal?: AbortSignal,
): Promise<Card> {
  const user = await signingUser(signer, accounts, signal)
  const claim: CardClaim = { ...wish, ...user, dateMs: clock.now() }
  return requestSignature(signer, cards, { claim, crypto: crypto ?? (await loadCrypto()), signal })
}
