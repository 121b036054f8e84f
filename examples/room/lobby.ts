import { element, isComplete, keepName, keptName, say } from '../shared/page.ts'
import { incompleteLink, isRoomSecret } from './room-key.ts'
import { nameBefore } from './this-tab.ts'

/** Whether this address is that of a room, of a stream, or of none yet. Where it is only a part of a link, the page offers another way instead of its form. */
export function isLinkWhole(): boolean {
  // A link that is put in the place of another differs behind # only, which loads nothing by itself.
  addEventListener('hashchange', () => location.reload())
  const secret = location.hash.slice(1)
  if (new URLSearchParams(location.search).has('stream') || secret === '' || isRoomSecret(secret)) return true
  element('lobby', HTMLFormElement).hidden = true
  element('anew', HTMLParagraphElement).hidden = false
  say(incompleteLink)
  return false
}

/** Resolves when somebody joins: the button that is pressed there lets the page play sound. */
export function joined(): Promise<{ readonly name: string; readonly context: AudioContext }> {
  const name = element('name', HTMLInputElement)
  // Somebody may have typed before this runs.
  if (name.value === '') name.value = nameBefore() ?? keptName()
  const lobby = element('lobby', HTMLFormElement)
  // Before, it would load the page anew.
  element('join', HTMLButtonElement).disabled = false
  return new Promise((resolve) => {
    lobby.addEventListener('submit', (event) => {
      event.preventDefault()
      if (!isComplete(lobby)) return
      keepName(name.value)
      // It works once. The keyboard's focus would be lost with it.
      lobby.hidden = true
      element('title', HTMLHeadingElement).focus()
      resolve({ name: name.value, context: new AudioContext({ sampleRate: 48_000 }) })
    })
  })
}

/** After leaving, and where joining failed: a page loaded anew has nothing left of the one before. */
export function offerAgain(): void {
  const again = element('again', HTMLButtonElement)
  again.addEventListener('click', () => location.reload(), { once: true })
  again.hidden = false
  again.focus()
}
