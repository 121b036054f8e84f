import { toHex } from '@runnel/protocol'
import { bytesOfHex } from './bytes-of-hex.ts'
import { sessionName, type Session } from './session.ts'
import type { SessionStore } from './session-store.ts'

/** The reading keys of a session's user, by their generation. */
export interface KeptReadingKeys {
  get(generation: number): Uint8Array | undefined
  set(generation: number, readingKey: Uint8Array): void
  /** Runs this when all that asked before have ended, whoever shares the store. Throws ABORTED. */
  exclusively<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/**
 * Reading keys kept beside a session, so that a reload or a second tab does not ask again. They are a part of its text: when the session is
 * forgotten or replaced, they are gone. Where there is no session any more nothing is kept.
 */
export function readingKeysOf(
  { delegation }: Pick<Session, 'delegation'>,
  store: SessionStore,
): KeptReadingKeys {
  const name = sessionName(delegation)
  return {
    get: (generation) => readingKeyIn(textIn(store, name), generation),
    set(generation, readingKey) {
      const text = textIn(store, name)
      if (text === undefined) return
      const readingKeys = { ...text.readingKeys, [generation]: toHex(readingKey) }
      store.set(name, JSON.stringify({ ...text, readingKeys }))
    },
    exclusively: (run, signal) => store.exclusively('session', run, signal),
  }
}

interface SessionText {
  readonly readingKeys?: Readonly<Record<string, unknown>>
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
