import type { Member, RecordingPlayer } from '@runnel/media/page'
import { recordedSentence } from './picture-sentence.ts'
import { newTile } from './tile.ts'
import { tracksOf } from './tiles.ts'

/** Who was there at the moment that is played, each with camera and screen. */
export class RecordedTiles {
  readonly #player: RecordingPlayer
  readonly #tiles = new Map<string, HTMLElement>()

  constructor(player: RecordingPlayer) {
    this.#player = player
  }

  /** Puts all in place; called when something may have changed. */
  update(members: readonly Member[]): void {
    const shown = new Set<string>()
    for (const member of members) {
      for (const what of ['camera', 'screen'] as const) {
        const sentence = recordedSentence(tracksOf(member, what))
        if (what === 'screen' && sentence !== '') continue
        const key = `${member.id} ${what}`
        shown.add(key)
        this.#fill(key, member, what, sentence)
      }
    }
    for (const [key, tile] of this.#tiles) {
      if (shown.has(key)) continue
      tile.remove()
      this.#tiles.delete(key)
    }
  }

  #fill(key: string, { id, catalogue }: Member, what: 'camera' | 'screen', sentence: string): void {
    const tile = this.#tileOf(key)
    const [label, text] = [tile.querySelector('b'), tile.querySelector('p')]
    if (label) label.textContent = what === 'screen' ? `${catalogue.name}: screen` : catalogue.name
    if (text) text.textContent = sentence
    const canvas = this.#player.canvasOf(id, what)
    if (canvas === undefined) return
    canvas.hidden = sentence !== ''
    canvas.title = catalogue.name
    if (canvas.parentElement !== tile) tile.append(canvas)
  }

  #tileOf(key: string): HTMLElement {
    const known = this.#tiles.get(key)
    if (known !== undefined) return known
    const tile = newTile()
    this.#tiles.set(key, tile)
    return tile
  }
}
