import { randomUUID } from 'node:crypto'
import type { Clock } from '@runnel/protocol'
import type { IConnectPacket } from 'mqtt-packet'
import type { Logger } from '../../logger.ts'
import type { GatewayAccess } from '../access/access.ts'
import type { GatewayAccount } from '../access/account.ts'
import type { Connection } from './connection.ts'
import { MqttProblem, Reason } from './core/reasons.ts'
import type { SessionKey } from './core/session.ts'
import type { Counters } from './counters.ts'
import type { Leases } from './leases.ts'
import type { RefusalLog } from './refusal-log.ts'

export interface AdmissionModules {
  readonly access: GatewayAccess
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
  readonly counters: Counters
  readonly leases: Leases
  readonly refusals: RefusalLog
  /** Where a client is connected, or was last. */
  readonly connectionOf: (key: SessionKey) => Connection | undefined
}

/** Lets clients in that show a key, or a certificate that stands for one. */
export class Admission {
  readonly #modules: AdmissionModules

  constructor(modules: AdmissionModules) {
    this.#modules = modules
  }

  authenticate(connection: Connection, connect: IConnectPacket): void {
    const { access, clock, counters, refusals } = this.#modules
    const { address, certificateFingerprint } = connection.peer
    const { password } = connect
    const find = () =>
      (password && access.accountOf({ key: password.toString() })) ??
      (certificateFingerprint === undefined ? undefined : access.accountOf({ certificateFingerprint }))
    const account = find()
    if (account !== undefined) return void this.#admit(connection, connect, account, () => find() === account)
    counters.refusedCredentials++
    const problem = unknownClient(password, certificateFingerprint)
    refusals.add('an MQTT client', problem.message, { address })
    const refuse = () => connection.conversation.refuse(problem)
    const waitMs = password === undefined ? 0 : access.failed(address)
    if (waitMs === 0) refuse()
    else clock.schedule(waitMs, refuse)
  }

  async #admit(
    connection: Connection,
    { clientId, will }: IConnectPacket,
    account: GatewayAccount,
    isInForce: () => boolean,
  ): Promise<void> {
    const { counters, leases, logger, refusals } = this.#modules
    const { conversation } = connection
    const countOut = account.connect() ?? this.#connectInPlaceOf(account, clientId)
    if (countOut === undefined) {
      counters.refusedConnections++
      const problem = new MqttProblem(Reason.quotaExceeded, 'the key has as many connections as it may')
      const { address } = connection.peer
      refusals.add('an MQTT client', problem.message, { address, account: account.name })
      return conversation.refuse(problem)
    }
    try {
      if (will !== undefined) await this.#payForWill(connection, account, will.payload.length)
      const { client, release } = await account.acquire()
      const { name, userId: own } = account
      // The key may have been taken away meanwhile.
      if (!isInForce()) conversation.refuse(new MqttProblem(Reason.notAuthorized, 'the key was taken away'))
      const session = conversation.admit({ account: name, own, assignedClientId: randomUUID() })
      if (session === undefined || !connection.isOpen) {
        release()
        return countOut()
      }
      connection.countOut = countOut
      connection.session = session
      counters.accepted++
      leases.begin(session, { account, client, release })
      connection.resume()
    } catch (error) {
      countOut()
      logger.warn({ err: error, account: account.name }, 'an MQTT client cannot be served')
      conversation.refuse(new MqttProblem(Reason.unavailable, 'the identity of the key cannot be served now'))
    }
  }

  /** A client that lost its connection is back before that is noticed: the key has the room of the lost one. */
  #connectInPlaceOf(account: GatewayAccount, clientId: string): (() => void) | undefined {
    const lost = this.#modules.connectionOf({ account: account.name, clientId })
    lost?.conversation.fail(new MqttProblem(Reason.takenOver, 'the client connected again'))
    lost?.countOut()
    return account.connect()
  }

  /** A will is a message of its key: it is taken from the rate when its client connects, so that it is published whatever comes. */
  async #payForWill(connection: Connection, account: GatewayAccount, bytes: number): Promise<void> {
    const { clock, counters } = this.#modules
    for (let waitMs; (waitMs = account.takeRate(bytes)) > 0 && connection.isOpen;) {
      counters.slowed++
      await new Promise<void>((resolve) => void clock.schedule(waitMs, resolve))
    }
  }
}

function unknownClient(
  password: Buffer | undefined,
  certificateFingerprint: string | undefined,
): MqttProblem {
  if (password !== undefined)
    return new MqttProblem(Reason.badCredentials, 'no such key: the password is a key of the gateway')
  const why =
    certificateFingerprint === undefined
      ? 'there is no key: the password is a key of the gateway'
      : `no key has this certificate: ${certificateFingerprint}`
  return new MqttProblem(Reason.notAuthorized, why)
}
