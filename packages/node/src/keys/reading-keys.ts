import { cardFingerprint, clientError, readReadingKeyFile, type ReadingKeyConfig } from '@runnel/client'
import { ciphers, decodeCard, type Card } from '@runnel/protocol'
import { nodeError } from '../errors.ts'

/** A card as it is shown. */
export interface ShownCard {
  readonly user: string
  readonly generation: number
  readonly chainId: number
  /** When its user signed it, as ISO 8601. */
  readonly date: string
  /** For people to compare. */
  readonly fingerprint: string
}

export function shownCard(card: Card): ShownCard {
  const { userId, generation, chainId, dateMs } = card
  const date = new Date(dateMs).toISOString()
  return { user: userId, generation, chainId, date, fingerprint: cardFingerprint(ciphers, card) }
}

/** The card in a reading key file. Throws CARD_NEEDS_USER when there is none. */
export function cardOf({ card, userId }: ReadingKeyConfig): Card {
  if (card === undefined) throw clientError('CARD_NEEDS_USER', userId)
  return decodeCard(Buffer.from(card.slice(2), 'hex'))
}

/** The reading key to open content with: that of the file named, else of RUNNEL_READING_KEY; undefined when there is none. Throws what is wrong with the file. */
export function resolveReadingKey(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): ReadingKeyConfig | undefined {
  const path = file ?? env['RUNNEL_READING_KEY']
  return path === undefined || path === '' ? undefined : readReadingKeyFile(path)
}

/** Throws USAGE. */
export function checkGeneration(generation: number): number {
  if (Number.isInteger(generation) && generation >= 0 && generation < 2 ** 32) return generation
  throw nodeError('USAGE', '--generation takes a whole number from 0')
}
