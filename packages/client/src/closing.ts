import type { NetworkNode } from '@runnel/network'
import type { Clock, VerificationPool } from '@runnel/protocol'
import { deadline } from './deadline.ts'
import type { Encryption } from './encryption/encryption.ts'
import type { Gate } from './gate.ts'
import type { ActingUser } from './identity/acting-user.ts'
import type { Lazy } from './lazy.ts'
import type { Publisher } from './publish/publisher.ts'
import type { ReadingRights } from './reading-rights.ts'
import type { RegistryService } from './registry/registry-service.ts'
import type { HistorySource } from './resend/history-source.ts'
import type { SideServices } from './side/side-services.ts'
import type { StatusHub } from './status.ts'
import type { Subscriber } from './subscribe/subscriber.ts'

/** The result of closing a client. */
export interface ClientClosed {
  /** How many published messages could not be sent in time; their `publish` was rejected with CLIENT_CLOSED. */
  readonly unsentMessages: number
}

export interface ClosingModules {
  readonly gate: Pick<Gate, 'close'>
  readonly clock: Clock
  readonly publisher: Pick<Publisher, 'drain' | 'close'>
  readonly sides: Pick<Lazy<SideServices>, 'now'>
  readonly encryption: Pick<Encryption, 'finish' | 'close'>
  readonly history: Pick<HistorySource, 'close'>
  readonly subscriber: Pick<Subscriber, 'close'>
  readonly rights: Pick<ReadingRights, 'close'>
  readonly user: Pick<ActingUser, 'stop'>
  readonly node: Pick<NetworkNode, 'stop'>
  readonly verification?: Pick<VerificationPool, 'stop'> | undefined
  readonly registry: Pick<RegistryService, 'stop'>
  readonly status: Pick<StatusHub, 'close'>
}

/** The end of a client: what others wait for first, then what it reads itself, and last what all of it stands on. */
export class Closing {
  readonly #modules: ClosingModules
  readonly #timeoutMs: number
  readonly #closed = Promise.withResolvers<ClientClosed>()
  #closing: Promise<ClientClosed> | undefined

  constructor(options: { readonly timeoutMs: number }, modules: ClosingModules) {
    this.#timeoutMs = options.timeoutMs
    this.#modules = modules
  }

  /** Resolves when the client is closed, by whomever. */
  get closed(): Promise<ClientClosed> {
    return this.#closed.promise
  }

  /** Idempotent. */
  close(): Promise<ClientClosed> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<ClientClosed> {
    const { gate, clock, publisher, sides, encryption, history } = this.#modules
    gate.close()
    const { signal, end } = deadline(clock, this.#timeoutMs)
    const unsentMessages = await publisher.drain(signal)
    publisher.close()
    sides.now?.presences.close()
    await sides.now?.readers.close()
    await encryption.finish(signal)
    end()
    history.close()
    encryption.close()
    await this.#stop()
    const closed: ClientClosed = { unsentMessages }
    this.#closed.resolve(closed)
    return closed
  }

  async #stop(): Promise<void> {
    const { subscriber, rights, user, node, verification, registry, status } = this.#modules
    await subscriber.close()
    rights.close()
    user.stop()
    await node.stop()
    verification?.stop()
    await registry.stop()
    status.close()
  }
}
