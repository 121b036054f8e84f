import type { RunnelClient } from '@runnel/client/browser'
import type { MediaSession, Member, SessionPlayer } from '@runnel/media/page'
import { element } from '../shared/page.ts'
import { milliseconds, overallText, percent, pictureText, roundTripsMs } from './overall-text.ts'
import type { Tiles } from './tiles.ts'

interface Before {
  readonly painted: number
  readonly atMs: number
}

/** What comes of the network, in figures: of all, and of each member. */
export class NetworkPanel {
  readonly #client: RunnelClient
  readonly #streamId: string
  readonly #session: MediaSession
  readonly #player: SessionPlayer
  readonly #tiles: Tiles
  readonly #before = new Map<string, Before>()

  constructor(
    client: RunnelClient,
    streamId: string,
    room: { readonly session: MediaSession; readonly player: SessionPlayer; readonly tiles: Tiles },
  ) {
    this.#client = client
    this.#streamId = streamId
    this.#session = room.session
    this.#player = room.player
    this.#tiles = room.tiles
  }

  update(): void {
    element('overall', HTMLParagraphElement).textContent = this.#overall()
    element('figures', HTMLTableSectionElement).replaceChildren(...this.#rows())
  }

  #overall(): string {
    const { counters, streamParts } = this.#client.network.metrics()
    return overallText(counters, roundTripsMs(streamParts, this.#streamId))
  }

  #rows(): HTMLTableRowElement[] {
    const { members } = this.#player.report
    return this.#session.members.flatMap((member) => {
      const report = members.get(member.id)
      if (report === undefined) return []
      const { height, frames, painted, jitterMs, delayMs, concealedShare } = report
      const failed = frames.lost + frames.late + frames.undecodable
      const framesPerS = this.#framesPerS(member, painted)
      const picture = pictureText(height, framesPerS, this.#tiles.cameraState(member))
      const lost = percent(failed / Math.max(1, failed + frames.decoded))
      return [
        rowOf([
          ...[member.catalogue.name, picture, lost],
          ...[milliseconds(jitterMs), milliseconds(delayMs), percent(concealedShare)],
        ]),
      ]
    })
  }

  #framesPerS({ id }: Member, painted: number): number {
    const atMs = performance.now()
    const before = this.#before.get(id) ?? { painted, atMs }
    this.#before.set(id, { painted, atMs })
    return (1_000 * Math.max(0, painted - before.painted)) / Math.max(1, atMs - before.atMs)
  }
}

function rowOf(texts: readonly string[]): HTMLTableRowElement {
  const row = document.createElement('tr')
  const labels = document.querySelectorAll('#network th')
  for (const [i, text] of texts.entries()) {
    const cell = row.insertCell()
    cell.textContent = text
    // Shown where there is no room for the table's head.
    cell.dataset['label'] = labels[i]?.textContent ?? ''
  }
  return row
}
