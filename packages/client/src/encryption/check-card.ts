import { cardDigest, cardProblem, isCardSignedByKey, protocolError, type Card } from '@runnel/protocol'
import type { Clock, Crypto } from '@runnel/protocol'
import type { ContractReader } from '../registry/ports.ts'

export interface CardCheckModules {
  /** On which cards have to be. */
  readonly chainId: number
  readonly contracts: ContractReader
  readonly crypto: Crypto
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Throws unless a card is good now and its user's: CARD_OTHER_CHAIN, CARD_NOT_YET, CARD_FORGED; CONTRACT_NEEDS_CHAIN where the user is a
 * contract and there is no chain; or what the chain throws.
 */
export async function requireGoodCard(card: Card, modules: CardCheckModules): Promise<void> {
  const { chainId, contracts, crypto, clock } = modules
  const problem = cardProblem(card, { chainId, wallMs: clock.now() })
  if (problem !== undefined) throw problem
  if (isCardSignedByKey(card, crypto)) return
  const { userId, signature, block } = card
  const isBacked =
    block > 0 && (await contracts.accepts({ userId, signature, digest: cardDigest(card, crypto) }))
  if (!isBacked) throw protocolError('CARD_FORGED', `of ${userId}`)
}
