import { backoffMs, circuitClaimDigest, type Cancel } from '@runnel/protocol'
import { noEvents } from '../connection/channel.ts'
import type { PooledChannel } from '../connection/connection-pool.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import { addressOfUrl } from '../ws/socket-address.ts'
import { answerTimeoutMs, maxPlacesPerS, maxSeekPauseMs, minSeekPauseMs, silentAfterMs } from './limits.ts'
import { Pace } from './pace.ts'
import { circuitFrame, claimFrame, readWaitingFrame, stillHereFrame } from './waiting-frames.ts'

/** A WebSocket to wait on, which is being opened or open. */
export interface OpeningPlace {
  readonly cancel: Cancel
  /** Whether a carrier is there; only the first call counts. Not called where this node gives up before it knows. */
  tried(isCarrier: boolean): void
}

/** A WebSocket to wait on, and what has been said on it. */
interface PlaceSocket {
  readonly url: string
  readonly channel: PooledChannel
  stage: 'new' | 'claimed' | 'waiting'
  tried(isCarrier: boolean): void
  within(ms: number): void
  done(): void
}

/** Opens a WebSocket to wait on. One of the two is called, later; neither after `cancel`. */
type OpenWaiting = (
  url: string,
  onChannel: (channel: PooledChannel) => void,
  onFail: () => void,
) => OpeningPlace

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
  /** Of the next places after circuits. */
  readonly #pace: Pace
  #carriers: readonly string[] = []
  /** Of the carrier that was tried last. */
  #turn = 0
  #failures = 0
  #url = ''
  #isRunning = false
  /** Ends the place, or the attempt at one. */
  #cancel: Cancel | undefined
  /** Of the pause before the next attempt. */
  #cancelPause: Cancel | undefined

  constructor(modules: WaitingPlaceModules) {
    this.#modules = modules
    this.#pace = new Pace(maxPlacesPerS, modules.clock)
  }

  /** The URL of the carrier where others find this node; empty where there is none. */
  get url(): string {
    return this.#url
  }

  /**
   * Carriers, by URL. One where this node waits is not left for others, and an attempt is not given up: else whoever names
   * carriers could have any number of them dialled.
   */
  seek(carriers: readonly string[]): void {
    const start = Math.floor(this.#modules.random.next() * carriers.length)
    this.#carriers = [...carriers.slice(start), ...carriers.slice(0, start)]
    this.#failures = 0
    this.#endPause()
    this.#next()
  }

  start(): void {
    this.#isRunning = true
    this.#next()
  }

  stop(): void {
    this.#isRunning = false
    this.#endPause()
    this.#cancel?.()
    this.#cancel = undefined
    this.#moved('')
  }

  #endPause(): void {
    this.#cancelPause?.()
    this.#cancelPause = undefined
  }

  #next(): void {
    const { length } = this.#carriers
    if (!this.#isRunning || length === 0 || (this.#cancel ?? this.#cancelPause) !== undefined) return
    this.#wait(this.#carriers[this.#turn % length] ?? '')
  }

  /** The place could not be had, or is lost. */
  #lost(): void {
    const pauseMs = backoffMs(++this.#failures, minSeekPauseMs, maxSeekPauseMs)
    this.#turn++
    this.#cancel = undefined
    this.#cancelPause = this.#modules.clock.schedule(pauseMs, () => {
      this.#cancelPause = undefined
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
    const lost = (): void => {
      cancelTimer()
      tried(false)
      this.#lost()
    }
    const within = (ms: number): void => {
      cancelTimer()
      cancelTimer = clock.schedule(ms, () => {
        this.#cancel?.()
        lost()
      })
    }
    const { cancel, tried } = open(
      url,
      (opened) => {
        channel = opened
        const done = () => cancelTimer()
        const socket: PlaceSocket = { url, channel: opened, stage: 'new', tried, within, done }
        opened.events = {
          onFrame: (frame) => this.#take(socket, frame),
          onDrain: () => {},
          onClose: lost,
        }
      },
      lost,
    )
    this.#cancel = () => {
      cancelTimer()
      cancel()
      if (channel === undefined) return
      channel.events = noEvents
      channel.close(true)
    }
    within(answerTimeoutMs)
  }

  #take(socket: PlaceSocket, frame: Uint8Array): void {
    const { url, channel, stage } = socket
    const message = readWaitingFrame(frame)
    if (message?.type === 'challenge' && stage === 'new') {
      socket.stage = 'claimed'
      // A carrier is there, even if it has no place for this node.
      socket.tried(true)
      channel.send(this.#claim(message.challenge, url))
    } else if (message?.type === 'waiting' && stage === 'claimed') {
      socket.stage = 'waiting'
      socket.within(silentAfterMs)
      this.#moved(url)
    } else if (message?.type === 'stillHere' && stage === 'waiting') {
      // Only now: one that lets nodes wait and drops them must not be sought again and again.
      this.#failures = 0
      socket.within(silentAfterMs)
      // Else one that does not read would have more and more of them wait here.
      if (channel.bufferedBytes === 0) channel.send(stillHereFrame)
    } else if (message?.type === 'circuit' && stage === 'waiting') {
      socket.done()
      channel.send(circuitFrame)
      // Its end is no longer that of this place.
      channel.events = noEvents
      this.#modules.onCircuit(channel, url)
      this.#waitAgain(url)
    } else channel.close(true)
  }

  /** After a circuit, at once unless the carrier calls again and again. */
  #waitAgain(url: string): void {
    const pauseMs = this.#pace.read(1)
    this.#cancel = this.#modules.clock.schedule(pauseMs, () => this.#wait(url))
  }

  #claim(challenge: Uint8Array, url: string): Uint8Array {
    const { identity, crypto } = this.#modules
    const address = addressOfUrl(url)
    const signature = identity.sign(circuitClaimDigest({ challenge, address }, crypto))
    return claimFrame({ nodeId: identity.nodeId, signature, address })
  }
}
