import type { RunnelClient } from '@runnel/client/browser'
import type { MediaSession, SessionPlayer } from '@runnel/media/page'
import { element } from '../shared/page.ts'
import { milliseconds, overallText, percent } from './overall-text.ts'

interface Before {
  readonly painted: number
  readonly atMs: number
}

/** What comes of the network, in figures: of all, and of each member. */
export class NetworkPanel {
  readonly #client: RunnelClient
  readonly #session: MediaSession
  readonly #player: SessionPlayer
  readonly #before = new Map<string, Before>()

  constructor(client: RunnelClient, session: MediaSession, player: SessionPlayer) {
    this.#client = client
    this.#session = session
    this.#player = player
  }

  update(): void {
    element('overall', HTMLParagraphElement).textContent = this.#overall()
    element('figures', HTMLTableSectionElement).replaceChildren(...this.#rows())
  }

  #overall(): string {
    const { counters, streamParts } = this.#client.network.metrics()
    const neighbours = new Map(
      streamParts.flatMap((part) => part.neighbours.map(({ nodeId, rttMs }) => [nodeId, rttMs] as const)),
    )
    return overallText(counters, [...neighbours.values()])
  }

  #rows(): HTMLTableRowElement[] {
    const { members } = this.#player.report
    return this.#session.members.flatMap(({ id, catalogue }) => {
      const report = members.get(id)
      if (report === undefined) return []
      const { height, frames, painted, jitterMs, delayMs, concealedShare } = report
      const failed = frames.lost + frames.late + frames.undecodable
      const picture = height === undefined ? 'none' : `${height}p, ${this.#framesPerS(id, painted)}/s`
      const lost = percent(failed / Math.max(1, failed + frames.decoded))
      return [
        rowOf([
          ...[catalogue.name, picture, lost],
          ...[milliseconds(jitterMs), milliseconds(delayMs), percent(concealedShare)],
        ]),
      ]
    })
  }

  #framesPerS(id: string, painted: number): string {
    const atMs = performance.now()
    const before = this.#before.get(id) ?? { painted, atMs }
    this.#before.set(id, { painted, atMs })
    return ((1_000 * Math.max(0, painted - before.painted)) / Math.max(1, atMs - before.atMs)).toFixed(0)
  }
}

function rowOf(texts: readonly string[]): HTMLTableRowElement {
  const row = document.createElement('tr')
  for (const text of texts) row.insertCell().textContent = text
  return row
}
