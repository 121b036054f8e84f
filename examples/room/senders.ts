import { isRunnelError } from '@runnel/client/browser'
import {
  openCamera,
  openMicrophone,
  openScreen,
  publishAudio,
  publishVideo,
  type MediaSession,
  type Member,
  type PublishedAudio,
  type PublishedVideo,
} from '@runnel/media/page'
import { element, failureText, say } from '../shared/page.ts'
import { whileBusy } from './busy-button.ts'
import { endedSentence, ownSentence } from './own-sentence.ts'

/** What is published, and the devices behind it. */
interface Sending {
  readonly stream: MediaStream
  readonly published: readonly (PublishedAudio | PublishedVideo)[]
}

type Source = 'microphone' | 'camera' | 'screen'

/** The buttons that turn on and off what this page sends. Whatever is refused is said, and all else goes on. */
export class Senders {
  readonly #session: MediaSession
  readonly #sending = new Map<Source, Sending>()
  /** What was said to have failed since the last click. */
  #failed: readonly string[] = []
  #hasLeft = false

  constructor(session: MediaSession) {
    this.#session = session
  }

  /** Turns one on, or off. */
  toggle(source: Source): Promise<void> {
    const button = element(source, HTMLButtonElement)
    return whileBusy(button, async () => {
      try {
        if (this.#sending.has(source)) this.stop(source)
        else await this.#start(source)
      } catch (error) {
        // Who is asked for a screen may choose none.
        if (source === 'screen' && isRunnelError(error, 'DEVICE_REFUSED')) say('Your screen is not shared.')
        else this.#sayFailed(failureText(error))
      } finally {
        button.ariaPressed = String(this.#sending.has(source))
      }
    })
  }

  stop(source: Source): void {
    const { stream, published } = this.#sending.get(source) ?? { stream: new MediaStream(), published: [] }
    this.#sending.delete(source)
    for (const one of published) one.close()
    for (const track of stream.getTracks()) track.stop()
    element(source, HTMLButtonElement).ariaPressed = 'false'
    if (source === 'camera') showSelf(null)
  }

  /** Says in one's own picture when others do not see it; called when that may have changed. */
  update(): void {
    const label = document.querySelector('.tile.self b')
    if (label === null) return
    const { published = [], stream } = this.#sending.get('camera') ?? {}
    const isPaused = published.some((one) => 'isPaused' in one && one.isPaused)
    const isTaken = stream?.getTracks().some(({ muted }) => muted) ?? false
    label.textContent = ownSentence({ isTaken, obstacle: isPaused ? this.#obstacle : undefined })
  }

  /** What has no time or room for pictures. Members that are busy are slow to take them, which looks like a slow network from here. */
  get #obstacle(): string {
    const { isBusy, members } = this.#session
    if (isBusy) return 'this computer is too busy'
    const areOthersBusy = members.length > 0 && members.every(({ catalogue }) => catalogue.isBusy === true)
    return areOthersBusy ? 'the computers of the others are too busy' : 'your network is too slow'
  }

  /** For who leaves: what is just being turned on is off as soon as it is on. */
  stopAll(): void {
    this.#hasLeft = true
    for (const source of this.#sending.keys()) this.stop(source)
  }

  /** Until the next click: whoever goes on has read it. Two devices may be refused at once. */
  #sayFailed(text: string): void {
    this.#failed = [...this.#failed, text]
    const all = this.#failed.join(' ')
    say(all)
    const forget = (): void => {
      this.#failed = []
      if (element('state', HTMLParagraphElement).textContent === all) say('')
    }
    addEventListener('click', forget, { once: true })
  }

  /** Throws where one of its tracks cannot be published: then none is, and the device is off again. */
  async #start(source: Source): Promise<void> {
    const open = { microphone: openMicrophone, camera: openCamera, screen: openScreen }
    const stream = await open[source]()
    if (source === 'camera') showSelf(stream)
    const tracks = stream.getTracks()
    const begun = await Promise.allSettled(tracks.map((track) => this.#publish(source, track)))
    const published = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    this.#sending.set(source, { stream, published })
    // The browser has a button of its own that ends it, and a camera can be unplugged.
    for (const track of tracks) track.addEventListener('ended', () => this.#ended(source))
    const failed = begun.find((one) => one.status === 'rejected')
    // One that ended while it was published does not say so again.
    const isOver = this.#hasLeft || tracks.some(({ readyState }) => readyState === 'ended')
    if (failed !== undefined || isOver) this.stop(source)
    if (failed !== undefined) throw failed.reason
  }

  /** Says so once, though it has several tracks. */
  #ended(source: Source): void {
    if (!this.#sending.has(source)) return
    this.stop(source)
    if (source === 'screen') say(endedSentence.screen)
    else this.#sayFailed(endedSentence[source])
  }

  #publish(source: Source, track: MediaStreamTrack): Promise<PublishedAudio | PublishedVideo> {
    if (track.kind === 'audio')
      return publishAudio(this.#session, track, { source: source === 'screen' ? 'screen' : 'microphone' })
    return publishVideo(this.#session, track, {
      source: source === 'screen' ? 'screen' : 'camera',
      onWithout: sayWhoIsWithout,
      onFault: (error) => say(`Your video pauses for a moment: ${String(error)}`),
    })
  }
}

function sayWhoIsWithout(members: readonly Member[]): void {
  const names = members.map(({ catalogue }) => catalogue.name).join(', ')
  say(names === '' ? 'Everybody can see you.' : `No codec in common: ${names} cannot see you.`)
}

/** One's own picture, as in a mirror; it does not go over the network. */
function showSelf(stream: MediaStream | null): void {
  document.querySelector('.tile.self')?.remove()
  if (stream === null) return
  const video = document.createElement('video')
  Object.assign(video, { srcObject: stream, muted: true, autoplay: true, playsInline: true })
  const label = document.createElement('b')
  label.textContent = 'You'
  const tile = document.createElement('div')
  tile.className = 'tile self'
  tile.append(video, label)
  element('tiles', HTMLDivElement).prepend(tile)
}
