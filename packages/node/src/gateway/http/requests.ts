import type { FastifyReply, FastifyRequest } from 'fastify'
import { nodeError } from '../../errors.ts'
import type { GatewayAccount } from '../account.ts'
import type { Caller } from '../callers.ts'
import type { Gateway } from '../gateway.ts'
import { credentialOf } from './credentials.ts'

const eventsPath = /^\/v1\/streams\/[^/?]+\/events(?:\?|$)/

/** Lets requests in: who sent them is known before anything of their bodies is read. */
export class GatewayRequests {
  readonly #gateway: Gateway
  readonly #origins: readonly string[]
  readonly #accounts = new WeakMap<FastifyRequest, GatewayAccount>()

  constructor(gateway: Gateway, origins: readonly string[]) {
    this.#gateway = gateway
    this.#origins = origins
  }

  /** To be called before a request is read. Throws GATEWAY_KEY_WRONG. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const credential = credentialOf(request.raw, eventsPath.test(request.url), this.#origins)
    const found = this.#gateway.callers.accountOf(credential, request.ip)
    if ('retryAfterMs' in found) {
      reply.header('www-authenticate', 'Bearer realm="runnel gateway"')
      if (found.retryAfterMs > 0) reply.code(429).header('retry-after', Math.ceil(found.retryAfterMs / 1000))
      throw nodeError('GATEWAY_KEY_WRONG')
    }
    this.#accounts.set(request, found)
  }

  /** Of a request that was admitted. */
  accountOf(request: FastifyRequest): GatewayAccount {
    const account = this.#accounts.get(request)
    if (account === undefined) throw nodeError('GATEWAY_KEY_WRONG')
    return account
  }

  enter(account: GatewayAccount): Promise<Caller> {
    return this.#gateway.callers.enter(account)
  }
}
