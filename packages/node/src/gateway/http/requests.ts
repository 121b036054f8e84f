import type { FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import type { Cancel } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import type { GatewayAccount } from '../access/account.ts'
import type { Caller } from '../callers.ts'
import type { Gateway } from '../gateway.ts'
import { gatewayLimits } from '../limits.ts'
import { credentialOf } from './credentials.ts'

const eventsPath = /^\/v1\/streams\/[^/?]+\/events(?:\?|$)/

/** Lets requests in: who sent them is known before anything of their bodies is read. */
export class GatewayRequests {
  readonly #gateway: Gateway
  readonly #origins: readonly string[]
  readonly #accounts = new WeakMap<FastifyRequest, GatewayAccount>()
  readonly #watches = new WeakMap<FastifyRequest, Cancel>()

  constructor(gateway: Gateway, origins: readonly string[]) {
    this.#gateway = gateway
    this.#origins = origins
  }

  /** To be called before a request is read. Throws what `accountOf` of the callers throws. */
  admit(request: FastifyRequest): void {
    const credential = credentialOf(request.raw, eventsPath.test(request.url), this.#origins)
    this.#accounts.set(request, this.#gateway.callers.accountOf(credential, request.ip))
  }

  /** Of a request that was admitted. */
  accountOf(request: FastifyRequest): GatewayAccount {
    const account = this.#accounts.get(request)
    if (account === undefined) throw nodeError('GATEWAY_KEY_MISSING')
    return account
  }

  /** Hangs up on who does not send the whole body in time, whether it is read or not. */
  watchBody(request: FastifyRequest): void {
    const { raw, headers } = request
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
    const cancel = this.#gateway.clock.schedule(gatewayLimits.bodyMs, () => raw.socket.destroy())
    this.#watches.set(request, cancel)
    raw.once('close', cancel)
  }

  /** The pieces of a body that takes as long as it wants, while some come. */
  async *pieces(request: FastifyRequest): AsyncGenerator<Uint8Array> {
    this.#watches.get(request)?.()
    // A body that is not read to its end must not take the answer with it.
    const pieces = (request.body as Readable).iterator({
      destroyOnReturn: false,
    }) as AsyncIterator<Uint8Array>
    for (;;) {
      const hangUp = () => request.raw.socket.destroy()
      const cancel = this.#gateway.clock.schedule(gatewayLimits.idleMs, hangUp)
      const { done, value } = await pieces.next().finally(cancel)
      if (done === true) return
      yield value
    }
  }

  enter(account: GatewayAccount): Promise<Caller> {
    return this.#gateway.callers.enter(account)
  }
}
