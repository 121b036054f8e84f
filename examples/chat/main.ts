import { storedKey } from '@runnel/client/browser'
import { join, onSubmit, run, say, show, streamCalled } from '../shared/page.ts'

interface ChatMessage {
  readonly name: string
  readonly text: string
}

/** Anybody may publish anything: only what is a chat message is shown. */
function isChatMessage(content: unknown): content is ChatMessage {
  if (typeof content !== 'object' || content === null) return false
  const { name, text } = content as Partial<Record<string, unknown>>
  return typeof name === 'string' && typeof text === 'string' && name.length <= 40 && text.length <= 1_000
}

run(async () => {
  // The same user at the next visit, so that somebody can let it into a room.
  const client = await join({ privateKey: await storedKey() })
  // What not everybody may read, as ?room=private, is encrypted without another line of code.
  const room = await streamCalled(client, new URLSearchParams(location.search).get('room') ?? 'lobby')
  const subscription = await client.subscribe(room, {}, ({ content, publisherId }) => {
    // Names can be chosen freely; the beginning of the key's address tells who is who.
    if (isChatMessage(content)) show(`${content.name} (${publisherId.slice(0, 8)})`, content.text)
  })
  onSubmit('say', (fields) =>
    client.publish(room, { name: String(fields.get('name')), text: String(fields.get('text')) }),
  )
  await subscription.waitForNeighbours()
  say('You are in the room.')
})
