import type { RunnelClient } from '@runnel/client/browser'
import { openSession, SessionPlayer, supportedCodecs, type MediaSession } from '@runnel/media/page'
import { element, onSubmit, run, say, sayWhatFailed, show, streamCalled } from '../shared/page.ts'
import { joinRoom, recordingsOf } from './join-room.ts'
import { NetworkPanel } from './network-panel.ts'
import { RoomRecorder } from './recorder.ts'
import { newRoomSecret } from './room-key.ts'
import { Senders } from './senders.ts'
import { tellFaults } from './tell-faults.ts'
import { rememberTab, thisTab } from './this-tab.ts'
import { Tiles } from './tiles.ts'

const nameKey = 'runnel-chat-name'
/** Large pictures are of use where few share the page. */
const fewMembers = 4

/** The lobby: the button that is pressed there lets the page play sound. */
function joined(): Promise<{ readonly name: string; readonly context: AudioContext }> {
  const name = element('name', HTMLInputElement)
  name.value = localStorage.getItem(nameKey) ?? ''
  const lobby = element('lobby', HTMLFormElement)
  return new Promise((resolve) => {
    lobby.addEventListener('submit', (event) => {
      event.preventDefault()
      localStorage.setItem(nameKey, name.value)
      resolve({ name: name.value, context: new AudioContext({ sampleRate: 48_000 }) })
    })
  })
}

function chat(session: MediaSession, name: string): void {
  session.on('message', ({ content, publisherId }) => {
    const { chat } = (content ?? {}) as {
      readonly chat?: { readonly name?: unknown; readonly text?: unknown }
    }
    if (typeof chat?.name !== 'string' || typeof chat.text !== 'string') return
    // Names can be chosen freely; the beginning of the key's address tells who is who.
    show(`${chat.name.slice(0, 40)} (${publisherId.slice(0, 8)})`, chat.text.slice(0, 1_000), 'bottom')
  })
  onSubmit('say', (fields) => session.say({ chat: { name, text: String(fields.get('text')) } }))
}

/** With no author, which no message of others is. */
function tellWhoLeft(session: MediaSession): void {
  session.on('left', ({ catalogue: { name } }, reason) => {
    // Whoever loaded the page again is back.
    if (reason !== 'replaced')
      show('', reason === 'goodbye' ? `${name} left.` : `${name} lost the connection.`, 'bottom')
  })
}

function buttons(senders: Senders): void {
  for (const source of ['microphone', 'camera', 'screen'] as const)
    element(source, HTMLButtonElement).addEventListener('click', () => void senders.toggle(source))
  element('link', HTMLButtonElement).addEventListener('click', () => {
    navigator.clipboard.writeText(location.href).then(
      () => say('Copied. Anybody with the link can join, see and hear.'),
      () => say(location.href),
    )
  })
}

/** Undefined where the network has no stream that keeps recordings. */
async function recorderOf(
  client: RunnelClient,
  streamId: string,
  path: string,
): Promise<RoomRecorder | undefined> {
  const kept = await streamCalled(client, recordingsOf(path)).catch(() => undefined)
  if (kept === undefined) return undefined
  const [recorder, button] = [new RoomRecorder(client, streamId, kept), element('record', HTMLButtonElement)]
  button.hidden = false
  button.addEventListener('click', () => {
    recorder.toggle().catch(sayWhatFailed)
  })
  return recorder
}

run(async () => {
  const { name, context } = await joined()
  say('Joining…')
  const query = new URLSearchParams(location.search)
  // Without a secret this is a new room.
  if (!query.has('stream') && location.hash === '') history.replaceState(null, '', `#${newRoomSecret()}`)
  const tab = thisTab()
  const { client, path } = await joinRoom(query, tab)
  const streamId = await streamCalled(client, path)
  const { decodes } = await supportedCodecs()
  const session = await openSession(streamId, { name, decodes, replaces: tab.session }, { client })
  rememberTab({ ...tab, session: session.id })
  const player = new SessionPlayer(session, context)
  player.start()
  element('lobby', HTMLFormElement).hidden = true
  element('room', HTMLElement).hidden = false
  const [senders, tiles] = [new Senders(session), new Tiles(session, player, decodes)]
  const panel = new NetworkPanel(client, session, player)
  const update = (): void => {
    player.limitRendition(session.members.length <= fewMembers ? 1 : 0)
    tiles.update()
    senders.update()
  }
  session.on('members', update)
  buttons(senders)
  chat(session, name)
  tellWhoLeft(session)
  tellFaults(session, say)
  const recorder = await recorderOf(client, streamId, path)
  const timers = [
    setInterval(update, 250),
    setInterval(() => {
      panel.update()
      recorder?.update()
    }, 1_000),
  ]
  const leave = async (): Promise<void> => {
    for (const timer of timers) clearInterval(timer)
    senders.stopAll()
    player.close()
    await recorder?.stop()
    await session.close()
    await client.close()
    tiles.clear()
    element('room', HTMLElement).hidden = true
    say('You left. Reload the page to join again.')
  }
  element('leave', HTMLButtonElement).addEventListener('click', () => void leave())
  // Back from the browser's cache, with a session that is over.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
  say('You are in the room.')
  await Promise.all([senders.toggle('microphone'), senders.toggle('camera')])
})
