import { isRunnelError, storedKey, type RunnelClient } from '@runnel/client/browser'
import { element, join, keepName, keptName, onSubmit, run, say, show, streamCalled } from '../shared/page.ts'
import { keptMessages, type ChatMessage } from './kept-messages.ts'

/** Messages from before that are shown to whoever comes in. */
const lastMessages = 50

/** Anybody may publish anything: only what is a chat message is shown. */
function isChatMessage(content: unknown): content is ChatMessage {
  if (typeof content !== 'object' || content === null) return false
  const { name, text } = content as Partial<Record<string, unknown>>
  return typeof name === 'string' && typeof text === 'string' && name.length <= 40 && text.length <= 1_000
}

/** Names can be chosen freely; the beginning of the key's address tells who is who. */
function showMessage(publisherId: string, { name, text }: ChatMessage): void {
  show(`${name} (${publisherId.slice(0, 8)})`, text, 'bottom')
}

/** Shows what was said before, and from then on what is said: from the stream's storage nodes or, where it has none, as this browser kept it. */
async function listen(client: RunnelClient, room: string) {
  const fromStorage = { resend: { last: lastMessages } }
  try {
    return await client.subscribe(room, fromStorage, ({ content, publisherId }) => {
      if (isChatMessage(content)) showMessage(publisherId, content)
    })
  } catch (error) {
    if (!isRunnelError(error) || error.code !== 'NO_STORAGE_NODE') throw error
  }
  const kept = keptMessages(room, lastMessages)
  for (const message of kept.all()) showMessage(message.publisherId, message)
  return client.subscribe(room, {}, (message) => {
    const { content, publisherId } = message
    if (isChatMessage(content) && kept.add(message, content)) showMessage(publisherId, content)
  })
}

run(async () => {
  const name = element('name', HTMLInputElement)
  name.value = keptName()
  // The same user at the next visit, so that somebody can let it into a room.
  const client = await join({ privateKey: await storedKey() })
  // What not everybody may read, as ?room=private, is encrypted without another line of code.
  const room = await streamCalled(client, new URLSearchParams(location.search).get('room') ?? 'lobby')
  const subscription = await listen(client, room)
  onSubmit('say', (fields) => {
    keepName(name.value)
    return client.publish(room, { name: name.value, text: String(fields.get('text')) })
  })
  await subscription.waitForNeighbours()
  say('You are in the room.')
})
