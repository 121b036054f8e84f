import type { RunnelClient } from '@runnel/client/browser'
import type { MediaSession, SessionPlayer } from '@runnel/media/page'
import { element } from '../shared/page.ts'

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const milliseconds = (ms: number): string => `${ms.toFixed(0)} ms`

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
    const of = (name: string): number => counters[name] ?? 0
    const received = of('urgent.messages') - of('urgent.published')
    const copies = (received + of('urgent.duplicates')) / Math.max(1, received)
    const neighbours = new Map(
      streamParts.flatMap((part) => part.neighbours.map(({ nodeId, rttMs }) => [nodeId, rttMs] as const)),
    )
    const rtts = [...neighbours.values()].filter((rttMs) => rttMs !== undefined)
    const meanMs = rtts.reduce((sum, rttMs) => sum + rttMs, 0) / Math.max(1, rtts.length)
    const late = of('urgent.late') + of('urgent.truncated')
    const handled = received + of('urgent.duplicates') + of('urgent.forwarded') + late
    const excess = of('urgent.overShare')
    const flood =
      excess === 0 ? '' : ` ${excess} messages dropped, because somebody sends more than one member may.`
    return `${neighbours.size} ${neighbours.size === 1 ? 'neighbour' : 'neighbours'}, ${milliseconds(meanMs)} round trip; ${copies.toFixed(2)} copies of each message; ${percent(late / Math.max(1, handled))} of all copies dropped because they were late; ${of('urgent.repeated')} packets sent again because links lost them.${flood}`
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
