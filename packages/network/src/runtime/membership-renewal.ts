import { Alarm, type AccessToken, type Clock } from '@runnel/protocol'

/** Minimum time between two looks at a membership token, however soon it expires. */
const minRenewalMs = 1_000

export interface MembershipRenewalModules {
  readonly clock: Clock
  /** The token to use now; undefined when the node acts for itself. */
  membershipToken(): AccessToken | undefined
  /** Trackers keep the token with the status, so they get a new one before the old one expires. */
  onNew(): void
}

/** Makes sure that trackers have a valid membership token. */
export class MembershipRenewal {
  readonly #modules: MembershipRenewalModules
  readonly #alarm: Alarm
  /** The token that the trackers were last sent, or are being sent. */
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
