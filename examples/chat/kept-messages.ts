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

/** The newest messages of a room, kept in this browser. */
export function keptMessages(room: string, max: number) {
  const key = `runnel-chat ${room}`
  const all = (): Kept[] => JSON.parse(localStorage.getItem(key) ?? '[]') as Kept[]
  /** False when it is there already: neighbours give a newcomer what was just said. */
  const add = (
    { publisherId, messageChainId, timestamp, sequenceNumber }: Message,
    { name, text }: ChatMessage,
  ) => {
    const id = [publisherId, messageChainId, timestamp, sequenceNumber].join(' ')
    const before = all()
    if (before.some((message) => message.id === id)) return false
    localStorage.setItem(key, JSON.stringify([...before, { id, publisherId, name, text }].slice(-max)))
    return true
  }
  return { all, add }
}
