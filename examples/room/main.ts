import { isRunnelError, type RunnelClient } from '@runnel/client/browser'
import { openSession, SessionPlayer, supportedCodecs, type MediaSession } from '@runnel/media/page'
import {
  element,
  failureText,
  onSubmit,
  run,
  say,
  sayWhatFailed,
  show,
  streamCalled,
} from '../shared/page.ts'
import { joinRoom, recordingsOf } from './join-room.ts'
import { isLinkWhole, joined, offerAgain } from './lobby.ts'
import { NetworkPanel } from './network-panel.ts'
import { RoomRecorder } from './recorder.ts'
import { RecordingNotice } from './recording-notice.ts'
import { newRoomSecret } from './room-key.ts'
import { Senders } from './senders.ts'
import { tellFaults } from './tell-faults.ts'
import { rememberTab, thisTab, type ThisTab } from './this-tab.ts'
import { Tiles } from './tiles.ts'

/** Large pictures are of use where few share the page. */
const fewMembers = 4

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

function tellWhetherAlone(isAlone: boolean): void {
  element('alone', HTMLParagraphElement).hidden = !isAlone
  // Once somebody was here.
  if (!isAlone) element('nobody', HTMLSpanElement).textContent = 'Nobody else is here now.'
}

function buttons(senders: Senders): void {
  for (const source of ['microphone', 'camera', 'screen'] as const)
    element(source, HTMLButtonElement).addEventListener('click', () => void senders.toggle(source))
  element('link', HTMLButtonElement).addEventListener('click', () => void copyLink())
}

/** Where it may not, or there is no clipboard, as outside a secure context, people can do so by hand. */
async function copyLink(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href)
    say('Copied. Anybody with the link can join, see and hear.')
  } catch {
    say(`The browser does not let this page copy the link. Copy it from here: ${location.href}`)
  }
}

/** Says so, as the browser may ask whether it may, and a camera takes its time; unless there is something else to say meanwhile. */
async function startDevices(senders: Senders, welcome: string): Promise<void> {
  const starting = `${welcome} Your microphone and camera are starting: allow them if the browser asks.`
  say(starting)
  await Promise.all([senders.toggle('microphone'), senders.toggle('camera')])
  if (element('state', HTMLParagraphElement).textContent === starting) say(welcome)
}

/** Undefined where the network has no stream that keeps recordings. Whoever is there is told. */
async function recorderOf(
  client: RunnelClient,
  streamId: string,
  path: string,
  tab: ThisTab,
  tell: (isRecording: boolean) => void,
): Promise<RoomRecorder | undefined> {
  const kept = await streamCalled(client, recordingsOf(path)).catch(() => undefined)
  if (kept === undefined) return undefined
  const recorder = new RoomRecorder(client, streamId, kept, tab)
  const button = element('record', HTMLButtonElement)
  button.hidden = false
  button.addEventListener('click', () => {
    const was = recorder.isRecording
    recorder
      .toggle()
      .catch(sayWhatFailed)
      // It may have stopped with an error; where it did not begin, there is nothing to tell.
      .finally(() => recorder.isRecording !== was && tell(recorder.isRecording))
  })
  return recorder
}

async function enter(name: string, context: AudioContext): Promise<void> {
  say('Joining…')
  const query = new URLSearchParams(location.search)
  // Without a secret this is a new room.
  if (!query.has('stream') && location.hash === '') history.replaceState(null, '', `#${newRoomSecret()}`)
  const earlier = await thisTab()
  const { client, path } = await joinRoom(query, earlier)
  const streamId = await streamCalled(client, path)
  const { decodes } = await supportedCodecs()
  const about = { name, decodes, replaces: earlier.session, readers: 'members' } as const
  const session = await openSession(streamId, about, { client })
  const tab = { ...earlier, name, session: session.id }
  rememberTab(tab)
  const player = new SessionPlayer(session, context)
  player.start()
  element('room', HTMLElement).hidden = false
  const [senders, tiles] = [new Senders(session), new Tiles(session, player, decodes)]
  const panel = new NetworkPanel(client, streamId, { session, player, tiles })
  const update = (): void => {
    player.limitRendition(session.members.length <= fewMembers ? 1 : 0)
    tiles.update()
    senders.update()
    tellWhetherAlone(session.members.length === 0)
  }
  session.on('members', update)
  buttons(senders)
  chat(session, name)
  tellWhoLeft(session)
  tellFaults(session, 'Others may not see or hear you', say)
  tellFaults(player, 'You may not hear others', say)
  const notice = new RecordingNotice(session)
  notice.start()
  let recorder: RoomRecorder | undefined = undefined
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
    notice.stop()
    await session.close()
    await client.close()
    tiles.clear()
    element('room', HTMLElement).hidden = true
    say('You left.')
    offerAgain()
  }
  element('leave', HTMLButtonElement).addEventListener('click', () => void leave())
  // Back from the browser's cache, with a session that is over.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
  update()
  recorder = await recorderOf(client, streamId, path, tab, (isRecording) => notice.changed(isRecording))
  // Meanwhile somebody may have left again.
  if (session.isClosed) return
  await startDevices(senders, `You are in the room. ${recorder?.showEarlier() ?? ''}`.trim())
}

run(async () => {
  if (!isLinkWhole()) return
  const { name, context } = await joined()
  try {
    await enter(name, context)
  } catch (error) {
    offerAgain()
    if (!isRunnelError(error, 'NO_SUBSCRIBE_PERMISSION')) throw error
    say(`${failureText(error)} A room takes the permission to publish, too.`)
  }
})
