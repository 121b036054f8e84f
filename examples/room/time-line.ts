import { Thumbnails, thumbnailTimes, type MediaRecording, type RecordingPlayer } from '@runnel/media/page'
import { element } from '../shared/page.ts'
import { clockText } from './clock-text.ts'
import { previewLeft } from './preview-left.ts'

/** Thumbnails along the line: what fits at some 100 pixels each, so many at most. */
const thumbnailWidth = 96
const maxAlongLine = 20
/** While the line is dragged it moves there so often. */
const dragMs = 100

/** The line under the pictures: thumbnails, a slider that goes where one drags it, and a picture of where the pointer is. */
export class TimeLineView {
  readonly #recording: MediaRecording
  readonly #player: RecordingPlayer
  readonly #thumbnails: Thumbnails
  readonly #slider = element('position', HTMLInputElement)
  #draggedMs = -Infinity
  #previewed: number | undefined

  constructor(recording: MediaRecording, player: RecordingPlayer) {
    this.#recording = recording
    this.#player = player
    this.#thumbnails = new Thumbnails(recording)
  }

  start(): void {
    const { fromMs, toMs } = this.#recording.range
    this.#slider.max = String((toMs - fromMs) / 1_000)
    this.#slider.addEventListener('input', () => this.#drag())
    this.#slider.addEventListener('change', () => this.#player.seek(this.#chosenMs))
    const line = element('line', HTMLDivElement)
    line.addEventListener('pointermove', ({ clientX }) => void this.#preview(clientX))
    line.addEventListener('pointerleave', () => this.#hidePreview())
    void this.#showAlongLine()
  }

  /** Says where the playback is. */
  update(): void {
    const { fromMs, toMs } = this.#recording.range
    const seconds = (this.#player.positionMs - fromMs) / 1_000
    // Who drags it has it.
    if (!this.#slider.matches(':active')) this.#slider.value = String(seconds)
    const text = `${clockText(seconds)} of ${clockText((toMs - fromMs) / 1_000)}`
    this.#slider.ariaValueText = text
    element('time', HTMLOutputElement).value = text
  }

  get #chosenMs(): number {
    return this.#recording.range.fromMs + 1_000 * this.#slider.valueAsNumber
  }

  #drag(): void {
    const nowMs = performance.now()
    if (nowMs - this.#draggedMs < dragMs) return
    this.#draggedMs = nowMs
    this.#player.seek(this.#chosenMs)
  }

  async #showAlongLine(): Promise<void> {
    const row = element('thumbnails', HTMLDivElement)
    const count = Math.min(maxAlongLine, Math.max(3, Math.floor(row.clientWidth / thumbnailWidth)))
    const places = thumbnailTimes(this.#recording.range, count).map((atMs) => {
      const place = document.createElement('span')
      row.append(place)
      return { atMs, place }
    })
    for (const { atMs, place } of places) {
      const picture = await this.#thumbnails.at(atMs)
      if (picture !== undefined) place.append(copyOf(picture))
    }
  }

  async #preview(clientX: number): Promise<void> {
    const { left, width } = this.#slider.getBoundingClientRect()
    const share = Math.min(1, Math.max(0, (clientX - left) / width))
    const { fromMs, toMs } = this.#recording.range
    const atMs = fromMs + share * (toMs - fromMs)
    this.#previewed = atMs
    const picture = await this.#thumbnails.at(atMs)
    // The pointer went on meanwhile.
    if (this.#previewed !== atMs) return
    const figure = element('preview', HTMLElement)
    for (const old of figure.querySelectorAll('canvas')) old.remove()
    if (picture !== undefined) figure.prepend(copyOf(picture))
    const caption = figure.querySelector('figcaption')
    if (caption !== null) caption.textContent = clockText((atMs - fromMs) / 1_000)
    figure.hidden = false
    figure.style.left = `${previewLeft(share * width, width, figure.offsetWidth)}px`
  }

  #hidePreview(): void {
    this.#previewed = undefined
    element('preview', HTMLElement).hidden = true
  }
}

/** One element is in one place only. */
function copyOf(picture: HTMLCanvasElement): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  Object.assign(canvas, { width: picture.width, height: picture.height })
  canvas.getContext('2d')?.drawImage(picture, 0, 0)
  return canvas
}
