import { decodeCard, encodeCard, toHex, type Card } from '@runnel/protocol'
import { bytesOfHex } from './bytes-of-hex.ts'
import { sessionName, type Session } from './session.ts'
import type { SessionStore } from './session-store.ts'

/** The reading keys of a session's user, by their generation, and the card that was signed last. */
export interface KeptReadingKeys {
  get(generation: number): Uint8Array | undefined
  set(generation: number, readingKey: Uint8Array): void
  card(): Card | undefined
  setCard(card: Card): void
  /** Runs this when all that asked before have ended, whoever shares the store. Throws ABORTED. */
  exclusively<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/**
 * Reading keys kept beside a session, so that a reload or a second tab does not ask again; with the card, as nobody else has it in a
 * network without storage nodes. They are a part of its text: when the session is forgotten or replaced, they are gone. Where there is no
 * session any more nothing is kept.
 */
export function readingKeysOf(
  { delegation }: Pick<Session, 'delegation'>,
  store: SessionStore,
): KeptReadingKeys {
  const name = sessionName(delegation)
  const change = (changed: (text: SessionText) => SessionText): void => {
    const text = textIn(store, name)
    if (text !== undefined) store.set(name, JSON.stringify({ ...text, ...changed(text) }))
  }
  return {
    get: (generation) => readingKeyIn(textIn(store, name), generation),
    set: (generation, readingKey) =>
      change((text) => ({ readingKeys: { ...text.readingKeys, [generation]: toHex(readingKey) } })),
    card: () => cardIn(textIn(store, name)),
    setCard: (card) => change(() => ({ card: toHex(encodeCard(card)) })),
    exclusively: (run, signal) => store.exclusively('session', run, signal),
  }
}

interface SessionText {
  readonly readingKeys?: Readonly<Record<string, unknown>>
  readonly card?: unknown
}

/** Undefined for what is no session, as another version of the program may have written it. */
function textIn(store: SessionStore, name: string): SessionText | undefined {
  try {
    const text: unknown = JSON.parse(store.get(name) ?? 'null')
    return typeof text === 'object' && text !== null ? text : undefined
  } catch {
    return undefined
  }
}

function readingKeyIn(text: SessionText | undefined, generation: number): Uint8Array | undefined {
  const bytes = bytesOfHex(String(text?.readingKeys?.[generation]))
  return bytes?.length === 32 ? bytes : undefined
}

function cardIn(text: SessionText | undefined): Card | undefined {
  try {
    return decodeCard(bytesOfHex(String(text?.card)) ?? new Uint8Array())
  } catch {
    return undefined
  }
}
