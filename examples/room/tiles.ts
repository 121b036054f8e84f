import type { MediaSession, Member, SessionPlayer, Track } from '@runnel/media/page'
import { pictureState, sentenceOf, type PictureState } from './picture-sentence.ts'
import { newTile } from './tile.ts'

/** One element for each member, and for each screen, where its picture is painted. */
export class Tiles {
  readonly #session: MediaSession
  readonly #player: SessionPlayer
  readonly #decodes: readonly string[]
  readonly #tiles = new Map<string, HTMLElement>()

  constructor(session: MediaSession, player: SessionPlayer, decodes: readonly string[]) {
    this.#session = session
    this.#player = player
    this.#decodes = decodes
  }

  /** Puts all in place; called when something may have changed. */
  update(members: readonly Member[] = this.#session.members): void {
    const shown = new Set<string>()
    for (const member of members) {
      for (const what of ['camera', 'screen'] as const) {
        if (what === 'screen' && tracksOf(member, what).length === 0) continue
        const key = `${member.id} ${what}`
        shown.add(key)
        this.#fill(this.#tileOf(key), member, what)
      }
    }
    for (const [key, tile] of this.#tiles) {
      if (shown.has(key)) continue
      tile.remove()
      this.#tiles.delete(key)
    }
  }

  cameraState(member: Member): PictureState {
    return this.#state(member, 'camera')
  }

  clear(): void {
    this.update([])
  }

  #fill(tile: HTMLElement, member: Member, what: 'camera' | 'screen'): void {
    const { name, tracks: all } = member.catalogue
    const sound = all.find(({ kind, source }) => kind === 'audio' && source !== 'screen')
    const isSilent = sound === undefined || sound.state !== 'live'
    const canvas = this.#player.canvasOf(member.id, what)
    const state = this.#state(member, what)
    const busy = { here: this.#session.isBusy, there: member.catalogue.isBusy === true }
    tile.classList.toggle('speaking', this.#player.speaker === member.id && what === 'camera')
    const [label, text] = [tile.querySelector('b'), tile.querySelector('p')]
    if (label)
      label.textContent = what === 'screen' ? `${name}: screen` : `${name}${isSilent ? ' (muted)' : ''}`
    if (text) text.textContent = sentenceOf(state, busy)
    // One of tracks that are over would show their last picture for ever.
    for (const old of tile.querySelectorAll('canvas')) if (old !== canvas) old.remove()
    if (canvas === undefined) return
    canvas.hidden = state !== 'shown'
    canvas.title = name
    if (canvas.parentElement !== tile) tile.append(canvas)
  }

  #state(member: Member, what: 'camera' | 'screen'): PictureState {
    const { rendition, members } = this.#player.report
    const isPainted = what === 'screen' || (members.get(member.id)?.painted ?? 0) > 0
    return pictureState(tracksOf(member, what), this.#decodes, rendition, isPainted)
  }

  #tileOf(key: string): HTMLElement {
    const known = this.#tiles.get(key)
    if (known !== undefined) return known
    const tile = newTile()
    this.#tiles.set(key, tile)
    return tile
  }
}

/** What there is of a member's camera or screen. */
export function tracksOf({ catalogue }: Member, what: 'camera' | 'screen'): readonly Track[] {
  return catalogue.tracks.filter(
    ({ kind, source }) => kind === 'video' && (source === 'screen') === (what === 'screen'),
  )
}
