import { isRunnelError } from '@runnel/client/browser'
import { openRecording, playbackRates, RecordingPlayer } from '@runnel/media/page'
import { element, run, say, streamCalled } from '../shared/page.ts'
import { joinRoom, recordingsOf } from './join-room.ts'
import { playbackKey } from './playback-key.ts'
import { RecordedTiles } from './recorded-tiles.ts'
import { thisTab } from './this-tab.ts'
import { TimeLineView } from './time-line.ts'

/** Arrow keys move by so much. */
const stepMs = 5_000

const numberIn = (query: URLSearchParams, name: string): number | undefined => {
  const value = Number(query.get(name) ?? NaN)
  return Number.isSafeInteger(value) && value > 0 ? value : undefined
}

function sayWhatIsMissing(error: unknown): void {
  say(isRunnelError(error) ? `${error.message}. ${error.remedy}` : String(error))
}

/** The buttons; the page may play sound once one of them, or a key, was pressed. */
class Controls {
  readonly #player: RecordingPlayer
  readonly #context: AudioContext

  constructor(player: RecordingPlayer, context: AudioContext) {
    this.#player = player
    this.#context = context
  }

  start(): void {
    element('play', HTMLButtonElement).addEventListener('click', () => this.toggle())
    for (const rate of playbackRates) {
      const button = document.createElement('button')
      button.textContent = `${rate}×`
      button.addEventListener('click', () => this.#useRate(rate))
      element('rates', HTMLSpanElement).append(button)
    }
    addEventListener('keydown', (event) => this.#onKey(event))
    this.update()
  }

  toggle(): void {
    void this.#context.resume()
    if (this.#player.isPaused) this.#player.play()
    else this.#player.pause()
    this.update()
  }

  update(): void {
    const button = element('play', HTMLButtonElement)
    button.textContent = this.#player.isPaused ? 'Play' : 'Pause'
    button.ariaBusy = String(this.#player.isWaiting)
    for (const [i, rate] of playbackRates.entries()) {
      const one = element('rates', HTMLSpanElement).children[i]
      if (one !== undefined) one.ariaPressed = String(rate === this.#player.rate)
    }
  }

  #useRate(rate: (typeof playbackRates)[number]): void {
    this.#player.rate = rate
    this.update()
  }

  #onKey(event: KeyboardEvent): void {
    // Buttons know the space bar themselves, and the slider its arrows, which move it by as much as here.
    const isButton = event.target instanceof HTMLButtonElement
    const key = playbackKey(event)
    if (key === undefined || (key === 'toggle' && isButton)) return
    event.preventDefault()
    if (key === 'toggle') this.toggle()
    else if (key === 'back') this.#player.seek(this.#player.positionMs - stepMs)
    else if (key === 'forward') this.#player.seek(this.#player.positionMs + stepMs)
    else this.#changeRate(key === 'faster' ? 1 : -1)
  }

  /** To the next one in this direction, if there is one. */
  #changeRate(by: 1 | -1): void {
    const at = playbackRates.findIndex((rate) => rate === this.#player.rate)
    const rate = playbackRates[at + by]
    if (rate !== undefined) this.#useRate(rate)
  }
}

run(async () => {
  const query = new URLSearchParams(location.search)
  const { client, path } = await joinRoom(query, await thisTab())
  const streamId = await streamCalled(client, recordingsOf(path))
  const [fromMs, toMs] = [numberIn(query, 'from'), numberIn(query, 'to')]
  const recording = await openRecording(streamId, { fromMs, toMs }, { client })
  const context = new AudioContext({ sampleRate: 48_000 })
  const player = new RecordingPlayer(recording, context)
  element('playback', HTMLElement).hidden = false
  const [tiles, line, controls] = [
    new RecordedTiles(player),
    new TimeLineView(recording, player),
    new Controls(player, context),
  ]
  player.on('fault', sayWhatIsMissing)
  player.on('seeked', () => tiles.update(player.members))
  player.start()
  line.start()
  controls.start()
  const timer = setInterval(() => {
    tiles.update(player.members)
    line.update()
    controls.update()
  }, 100)
  addEventListener('pagehide', () => {
    clearInterval(timer)
    player.close()
  })
  say(`Recorded on ${new Date(recording.range.fromMs).toLocaleString()}.`)
})
