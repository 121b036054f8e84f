export interface ChatMessage {
  readonly name: string
  readonly text: string
}

type Kept = readonly [publisherId: string, message: ChatMessage]

/** The newest messages of a room, kept in this browser. */
export function keptMessages(room: string, max: number) {
  const key = `runnel-chat ${room}`
  const all = (): Kept[] => JSON.parse(localStorage.getItem(key) ?? '[]') as Kept[]
  const add = (publisherId: string, { name, text }: ChatMessage) =>
    localStorage.setItem(key, JSON.stringify([...all(), [publisherId, { name, text }]].slice(-max)))
  return { all, add }
}
