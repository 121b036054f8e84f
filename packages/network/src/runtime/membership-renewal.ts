import { Alarm, type AccessToken, type Clock } from '@runnel/protocol'

/** A membership token is looked at no sooner than after this, however little is left of it. */
const minRenewalMs = 1_000

export interface MembershipRenewalModules {
  readonly clock: Clock
  /** The token to use now; undefined when the node acts in its own name. */
  membershipToken(): AccessToken | undefined
  /** Trackers keep the token with the status: they are told of a new one before the old one is over. */
  onNew(): void
}

/** Sees to it that trackers have a membership token that is good. */
export class MembershipRenewal {
  readonly #modules: MembershipRenewalModules
  readonly #alarm: Alarm
  /** As the trackers were told last, or are being told. */
  #token: AccessToken | undefined

  constructor(modules: MembershipRenewalModules) {
    this.#modules = modules
    this.#alarm = new Alarm({ onDue: () => this.start() }, modules)
  }

  start(): void {
    const { clock, membershipToken, onNew } = this.#modules
    const token = membershipToken()
    if (token === undefined) return
    if (this.#token !== undefined && token !== this.#token) onNew()
    this.#token = token
    const halfMs = (token.expiresMs - clock.now()) / 2
    const nowMs = Math.floor(clock.monotonicMs())
    this.#alarm.set(nowMs + Math.max(minRenewalMs, Math.ceil(halfMs) + 1))
  }

  stop(): void {
    this.#alarm.set(Infinity)
  }
}
