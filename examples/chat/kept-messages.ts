import type { Message } from '@runnel/client/browser'

export interface ChatMessage {
  readonly name: string
  readonly text: string
}

interface Kept extends ChatMessage {
  /** What no other message has. */
  readonly id: string
  readonly publisherId: string
}

/** Messages that a page remembers having shown. */
const maxShown = 1_000

/** The newest messages of a room, kept in this browser: all its tabs keep them in one place. */
export function keptMessages(room: string, max: number) {
  const key = `runnel-chat ${room}`
  /** By this page: another tab may have kept what this one has yet to show. */
  const shown = new Set<string>()
  const kept = (): Kept[] => JSON.parse(localStorage.getItem(key) ?? '[]') as Kept[]
  const keep = (messages: readonly Kept[]): void => {
    try {
      localStorage.setItem(key, JSON.stringify(messages))
    } catch {
      // There is no room: it is shown all the same.
    }
  }
  const isNew = (id: string): boolean => {
    const isKnown = shown.has(id)
    shown.add(id)
    for (const oldest of shown) if (shown.size > maxShown) shown.delete(oldest)
    return !isKnown
  }
  const all = (): Kept[] => kept().filter(({ id }) => isNew(id))
  /** False when this page has shown it already: neighbours give a newcomer what was just said. */
  const add = (
    { publisherId, messageChainId, timestamp, sequenceNumber }: Message,
    { name, text }: ChatMessage,
  ) => {
    const id = [publisherId, messageChainId, timestamp, sequenceNumber].join(' ')
    if (!isNew(id)) return false
    const before = kept()
    if (!before.some((message) => message.id === id))
      keep([...before, { id, publisherId, name, text }].slice(-max))
    return true
  }
  return { all, add }
}
