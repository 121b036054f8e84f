import { circuitClaimDigest, type Cancel } from '@runnel/protocol'
import { noEvents } from '../connection/channel.ts'
import type { PooledChannel } from '../connection/connection-pool.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import { addressOfUrl } from '../ws/socket-address.ts'
import { answerTimeoutMs, maxSeekPauseMs, minSeekPauseMs, silentAfterMs } from './limits.ts'
import { circuitFrame, claimFrame, readWaitingFrame, stillHereFrame } from './waiting-frames.ts'

/** Opens a WebSocket to wait on. One of the two is called, later; neither after the result was called. */
type OpenWaiting = (url: string, onChannel: (channel: PooledChannel) => void, onFail: () => void) => Cancel

export interface WaitingPlaceModules extends Pick<
  ConnectionModules,
  'clock' | 'crypto' | 'identity' | 'random'
> {
  readonly open: OpenWaiting
  /** Somebody is at the other end of this channel and will speak first; it came by the carrier at `url`. */
  onCircuit(channel: PooledChannel, url: string): void
  /** `url` is another one. */
  onChange(): void
}

/** Where this node waits for circuits: at one carrier, and at the next when that is lost. */
export class WaitingPlace {
  readonly #modules: WaitingPlaceModules
  #carriers: readonly string[] = []
  /** Of the carrier that was tried last. */
  #turn = 0
  #failures = 0
  #url = ''
  #isRunning = false
  #cancel: Cancel | undefined

  constructor(modules: WaitingPlaceModules) {
    this.#modules = modules
  }

  /** The URL of the carrier where others find this node; empty where there is none. */
  get url(): string {
    return this.#url
  }

  /** Carriers, by URL. One where this node waits is not left for others. */
  seek(carriers: readonly string[]): void {
    const start = Math.floor(this.#modules.random.next() * carriers.length)
    this.#carriers = [...carriers.slice(start), ...carriers.slice(0, start)]
    this.#failures = 0
    if (this.#url !== '') return
    this.#cancel?.()
    this.#cancel = undefined
    this.#next()
  }

  start(): void {
    this.#isRunning = true
    this.#next()
  }

  stop(): void {
    this.#isRunning = false
    this.#cancel?.()
    this.#cancel = undefined
    this.#moved('')
  }

  #next(): void {
    const { length } = this.#carriers
    if (!this.#isRunning || length === 0 || this.#cancel !== undefined) return
    this.#wait(this.#carriers[this.#turn % length] ?? '')
  }

  /** The place could not be had, or is lost. */
  #lost(): void {
    const pauseMs = Math.min(maxSeekPauseMs, minSeekPauseMs * 2 ** this.#failures++)
    this.#turn++
    this.#cancel = this.#modules.clock.schedule(pauseMs, () => {
      this.#cancel = undefined
      this.#next()
    })
    this.#moved('')
  }

  #moved(url: string): void {
    if (this.#url === url) return
    this.#url = url
    this.#modules.onChange()
  }

  #wait(url: string): void {
    const { clock, open } = this.#modules
    let cancelTimer: Cancel = () => {}
    let channel: PooledChannel | undefined
    const within = (ms: number): void => {
      cancelTimer()
      cancelTimer = clock.schedule(ms, () => {
        this.#cancel?.()
        this.#lost()
      })
    }
    const cancelOpen = open(
      url,
      (opened) => {
        channel = opened
        opened.events = {
          onFrame: (frame) => this.#take({ url, channel: opened, frame, within, done: () => cancelTimer() }),
          onDrain: () => {},
          onClose: () => {
            cancelTimer()
            this.#lost()
          },
        }
      },
      () => {
        cancelTimer()
        this.#lost()
      },
    )
    this.#cancel = () => {
      cancelTimer()
      cancelOpen()
      if (channel === undefined) return
      channel.events = noEvents
      channel.close(true)
    }
    within(answerTimeoutMs)
  }

  #take(heard: {
    readonly url: string
    readonly channel: PooledChannel
    readonly frame: Uint8Array
    within(ms: number): void
    done(): void
  }): void {
    const { url, channel, frame, within, done } = heard
    const message = readWaitingFrame(frame)
    if (message?.type === 'challenge') channel.send(this.#claim(message.challenge, url))
    else if (message?.type === 'waiting') {
      within(silentAfterMs)
      this.#moved(url)
    } else if (message?.type === 'stillHere') {
      // Only now: one that lets nodes wait and drops them must not be sought again and again.
      this.#failures = 0
      within(silentAfterMs)
      channel.send(stillHereFrame)
    } else if (message?.type === 'circuit') {
      done()
      channel.send(circuitFrame)
      // Its end is no longer that of this place.
      channel.events = noEvents
      this.#modules.onCircuit(channel, url)
      this.#cancel = undefined
      this.#wait(url)
    } else channel.close(true)
  }

  #claim(challenge: Uint8Array, url: string): Uint8Array {
    const { identity, crypto } = this.#modules
    const address = addressOfUrl(url)
    const signature = identity.sign(circuitClaimDigest({ challenge, address }, crypto))
    return claimFrame({ nodeId: identity.nodeId, signature, address })
  }
}
