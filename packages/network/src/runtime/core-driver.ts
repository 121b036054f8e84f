import {
  Alarm,
  compareRefs,
  type Clock,
  type MessageChain,
  type MessageRef,
  type StreamPartId,
} from '@runnel/protocol'
import type { NodeEffect } from '../core/effects.ts'
import type { NodeEvent } from '../core/events.ts'
import type { NodeCore } from '../core/node-core.ts'
import { Sequence } from './sequence.ts'

export interface CoreDriverModules {
  readonly core: Pick<NodeCore, 'handle' | 'dueMs'>
  readonly clock: Clock
  /** Carries out an effect. Never throws. */
  run(effect: NodeEffect): void
  /** An event was handled and its effects are carried out. */
  onHandled(event: NodeEvent): void
  /** Wakes the core with a tick: something of it is due. */
  tick(): void
  /** Nothing is done by timer before this time. */
  pausedUntilMs(): number
  /** Whether anything is done by timer. */
  isRunning(): boolean
}

/** Gives a node core its events, carries out its effects, and wakes it when something is due. */
export class CoreDriver {
  readonly #modules: CoreDriverModules
  /** Handled one after the other: a listener may publish while a message is delivered. */
  readonly #events = new Sequence<NodeEvent>((event) => this.#handle(event))
  /** Of the event that is, or was last, handled. */
  #effects: readonly NodeEffect[] = []
  /** How many of them. */
  #carriedOut = 0
  readonly #alarm: Alarm

  constructor(modules: CoreDriverModules) {
    this.#modules = modules
    this.#alarm = new Alarm({ onDue: () => modules.tick() }, modules)
  }

  dispatch(event: NodeEvent): void {
    this.#events.run(event)
  }

  /** Whether the core has delivered a message that waits for others of its batch to be carried out before it. */
  isOnItsWay(streamPartId: StreamPartId, chain: MessageChain, place: MessageRef): boolean {
    for (let i = this.#carriedOut; i < this.#effects.length; i++) {
      const effect = this.#effects[i]
      if (effect?.type !== 'deliver' || effect.delivery.streamPartId !== streamPartId) continue
      const { message } = effect.delivery
      const isOfChain =
        message.messageChainId === chain.messageChainId && message.publisherId === chain.publisherId
      if (isOfChain && compareRefs(message, place) === 0) return true
    }
    return false
  }

  /** Something else may be due now. */
  setAlarm(): void {
    const { core, pausedUntilMs, isRunning } = this.#modules
    // Rounded like the time that the core gets: otherwise it would find nothing due.
    if (isRunning()) this.#alarm.set(Math.ceil(Math.max(core.dueMs, pausedUntilMs())))
  }

  /** No tick after this. */
  stop(): void {
    this.#alarm.set(Infinity)
  }

  #handle(event: NodeEvent): void {
    const { clock, core, run, onHandled } = this.#modules
    // Rounded, so that ages of stream parts can be sent to peers as they are.
    const time = { nowMs: Math.floor(clock.monotonicMs()), wallMs: clock.now() }
    this.#effects = core.handle(event, time)
    for (this.#carriedOut = 0; this.#carriedOut < this.#effects.length;)
      run(this.#effects[this.#carriedOut++] as NodeEffect)
    onHandled(event)
    if (event.type !== 'data' || core.dueMs < this.#alarm.dueMs) this.setAlarm()
  }
}
