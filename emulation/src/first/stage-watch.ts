import { channel } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { initLogger } from 'node-datachannel'
import type { LinkSide, Stage, StageTimes } from './first-plan.ts'

/** What libdatachannel says when it reaches a stage. */
const words: readonly (readonly [stage: Stage, word: RegExp])[] = [
  ['instruction', /Changed signaling state to have-/],
  ['ice', /Changed ICE state to connected/],
  ['dtls', /DTLS handshake finished/],
  ['sctp', /SCTP connected/],
]

/** When stages of a start are reached, each once. Links are watched from outside of the product: by their library's log, and Node's own channels. */
export class StageWatch {
  readonly #startMs = performance.now()
  #side: LinkSide | undefined
  readonly #times: Partial<Record<Stage, number>> = {}

  get times(): StageTimes {
    return { ...this.#times }
  }

  /** Of WebRTC: whether this end has made the offer. */
  get side(): LinkSide | undefined {
    return this.#side
  }

  tookSide(side: LinkSide): void {
    this.#side ??= side
  }

  reach(stage: Stage): void {
    this.reachAt(stage, performance.now())
  }

  reachAt(stage: Stage, atMs: number): void {
    this.#times[stage] ??= atMs - this.#startMs
  }
}

/** Tells the present watch of every link of WebRTC that this process makes, and of sockets to an address. */
export function watchLinks(address: string, present: () => StageWatch): void {
  initLogger('Info', (_level, text) => {
    for (const [stage, word] of words) if (word.test(text)) present().reach(stage)
    const [, whose] = /Changed signaling state to have-(local|remote)-offer/.exec(text) ?? []
    if (whose !== undefined) present().tookSide(whose === 'local' ? 'offerer' : 'answerer')
  })
  channel('net.client.socket').subscribe((news) => {
    const { socket } = news as { readonly socket: Socket }
    const dialledMs = performance.now()
    socket.once('connect', () => {
      if (socket.remoteAddress !== address) return
      present().reachAt('instruction', dialledMs)
      present().reach('ice')
    })
  })
}
