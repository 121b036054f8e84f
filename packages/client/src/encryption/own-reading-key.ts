import type { StreamInfo } from '../registry/ports.ts'
import { isSameBytes, type Card, type NodeId } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import type { Cards, ReadingKeySource } from './ports.ts'

/** With what a user reads, and others encrypt for it. */
export interface OwnReadingKey {
  readonly readingKey: Uint8Array
  readonly card: Card
}

export interface OwnReadingKeyModules {
  readonly source: ReadingKeySource
  readonly directory: Cards
  /** The public key of the card that goes with a reading key. */
  readonly publicKeyOf: (readingKey: Uint8Array) => Promise<Uint8Array>
}

/**
 * The user's reading key and its card, which is signed and put into the directory where there is none for it. A key that does not fit the
 * card would read nothing of what was encrypted before: READING_KEY_CHANGED. Throws READING_KEY_OTHER_GENERATION where a key is kept and
 * the user's card is of a later one, what the source throws, and what the directory throws: without knowing the card no key is used.
 */
export async function openReadingKey(
  userId: NodeId,
  { source, directory, publicKeyOf }: OwnReadingKeyModules,
  stream: StreamInfo | undefined,
  signal: AbortSignal,
): Promise<OwnReadingKey> {
  const known = await cardOf(userId, directory, stream, signal)
  const generation = Math.max(source.onlyGeneration ?? 0, known?.generation ?? 0)
  const readingKey = await source.readingKey(generation, signal)
  const publicKey = await publicKeyOf(readingKey)
  if (known?.generation === generation) {
    if (isSameBytes(known.publicKey, publicKey)) return { readingKey, card: known }
    throw clientError(
      'READING_KEY_CHANGED',
      `it does not fit the card of ${userId}, generation ${generation}`,
    )
  }
  const card = await source.signCard(generation, publicKey, signal)
  await directory.put(card, stream, signal)
  return { readingKey, card }
}

/**
 * Has a user read with the next generation from now on: signs its card, and puts it into the directory. What was encrypted for the
 * generation before can be read with that only. Throws what the source and the directory throw.
 */
export async function renewReadingKey(
  userId: NodeId,
  { source, directory, publicKeyOf }: OwnReadingKeyModules,
  signal: AbortSignal,
): Promise<OwnReadingKey> {
  const known = await cardOf(userId, directory, undefined, signal)
  const generation = (known?.generation ?? 0) + 1
  const readingKey = await source.readingKey(generation, signal)
  const card = await source.signCard(generation, await publicKeyOf(readingKey), signal)
  await directory.put(card, undefined, signal)
  return { readingKey, card }
}

async function cardOf(
  userId: NodeId,
  directory: Cards,
  stream: StreamInfo | undefined,
  signal: AbortSignal,
): Promise<Card | undefined> {
  return (await directory.cardsOf([userId], stream, signal)).get(userId)
}
