import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { RunnelClient } from '@runnel/client'
import type { Cancel, Clock } from '@runnel/protocol'
import type { Logger } from '../../logger.ts'
import { Account, type GatewayAccount } from './account.ts'
import { Failures } from './failures.ts'
import { IdentityClients, type IdentityClientsModules } from './identity-clients.ts'
import { hashOfKey, readKeysFile, type KeyEntry } from './keys-file.ts'
import { gatewayLimits } from '../limits.ts'
import { userOfFile } from './user-of-file.ts'

/** What a client of a gateway shows: an API key, or the SHA-256 of its certificate in hexadecimal digits (colons are ignored). */
export type GatewayCredential = { readonly key: string } | { readonly certificateFingerprint: string }

/** Who may use the gateways of a broker. */
export interface GatewayAccess {
  /** Undefined where there is none, or it has expired. */
  accountOf(credential: GatewayCredential): GatewayAccount | undefined
  /** Undefined where there is none, or it has expired. */
  accountNamed(name: string): GatewayAccount | undefined
  /** Counts a wrong key from an address. How long the next has to wait, in milliseconds: 0 at first. */
  failed(address: string): number
  /** Calls back with the name of an account that was changed, taken away, or has expired: its connections end. Returns what stops that. */
  on(event: 'changed', listener: (name: string) => void): () => void
}

export interface KeyedAccessModules {
  readonly client: RunnelClient
  readonly open: IdentityClientsModules['open']
  readonly clock: Clock
  readonly logger: Pick<Logger, 'info' | 'error'>
}

interface Known {
  readonly entry: KeyEntry
  /** The entry as text: another text is another account. */
  readonly text: string
  readonly account: Account
}

/** Reads the file of keys, and again when it changes. */
export class KeyedAccess implements GatewayAccess {
  readonly #path: string
  readonly #modules: KeyedAccessModules
  readonly #failures = new Failures(gatewayLimits)
  readonly #clients: IdentityClients
  readonly #listeners = new Set<(name: string) => void>()
  #known: ReadonlyMap<string, Known> = new Map()
  #byCredential: ReadonlyMap<string, Known> = new Map()
  #seen = ''
  /** Why it could not be read the last time. */
  #problem: string | undefined
  #cancel: Cancel = () => {}
  #isStopped = false

  constructor(path: string, modules: KeyedAccessModules) {
    this.#path = resolve(path)
    this.#modules = modules
    this.#clients = new IdentityClients(gatewayLimits, modules)
  }

  /** Throws what `readKeysFile` and `userOfFile` throw. */
  async start(): Promise<void> {
    this.#seen = this.#stamp()
    this.#take(await this.#read())
    this.#lookAgain()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#clients.stop()
  }

  get counts() {
    const accounts = [...this.#known.values()].map(({ account }) => account)
    const connections = accounts.reduce((sum, account) => sum + account.connections, 0)
    return {
      ...{ accounts: accounts.length, connections },
      ...{ identities: this.#clients.size, failures: this.#failures.count },
    }
  }

  accountOf(credential: GatewayCredential): GatewayAccount | undefined {
    // Looking up a hash takes no time that tells how much of a key is right.
    const known = this.#byCredential.get(
      'key' in credential
        ? `key ${hashOfKey(credential.key)}`
        : `certificate ${credential.certificateFingerprint.replaceAll(':', '').toLowerCase()}`,
    )
    return known !== undefined && this.#isInForce(known.entry) ? known.account : undefined
  }

  accountNamed(name: string): GatewayAccount | undefined {
    const known = this.#known.get(name)
    return known !== undefined && this.#isInForce(known.entry) ? known.account : undefined
  }

  failed(address: string): number {
    return this.#failures.add(address, this.#modules.clock.monotonicMs())
  }

  on(_event: 'changed', listener: (name: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #lookAgain(): void {
    if (this.#isStopped) return
    this.#cancel = this.#modules.clock.schedule(gatewayLimits.lookMs, () => {
      void this.#look().finally(() => this.#lookAgain())
    })
  }

  /** A file that cannot be read changes nothing, as whoever edits it may be in the middle of that; it is tried again until it can. */
  async #look(): Promise<void> {
    try {
      const stamp = this.#stamp()
      if (stamp !== this.#seen) {
        this.#take(await this.#read())
        this.#seen = stamp
        this.#modules.logger.info({ keys: this.#known.size }, 'the gateway keys were read again')
      }
      this.#problem = undefined
    } catch (err) {
      this.#failed(err)
    }
    for (const { entry } of this.#known.values()) if (!this.#isInForce(entry)) this.#forget(entry)
  }

  /** Says so once. */
  #failed(err: unknown): void {
    const problem = String(err)
    if (problem === this.#problem) return
    this.#problem = problem
    this.#modules.logger.error({ err }, 'the gateway keys could not be read again; the old ones stay in use')
  }

  #stamp(): string {
    const stats = statSync(this.#path, { throwIfNoEntry: false, bigint: true })
    return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.mode}`
  }

  async #read(): Promise<ReadonlyMap<string, Known>> {
    const { client, clock } = this.#modules
    const besideFile = (path?: string) => path && resolve(dirname(this.#path), path)
    const known = new Map<string, Known>()
    for (const read of readKeysFile(this.#path)) {
      const text = JSON.stringify(read)
      const before = this.#known.get(read.name)
      if (before?.text === text) {
        known.set(read.name, before)
        continue
      }
      const entry = { ...read, as: besideFile(read.as), readingKey: besideFile(read.readingKey) }
      const userId = entry.as === undefined ? client.account : await userOfFile(entry.as)
      known.set(read.name, {
        entry,
        text,
        account: new Account(entry, { userId, clients: this.#clients, clock }),
      })
    }
    return known
  }

  #take(next: ReadonlyMap<string, Known>): void {
    const before = this.#known
    this.#known = next
    this.#byCredential = new Map(
      [...next.values()].flatMap((known) => credentialsOf(known.entry).map((text) => [text, known] as const)),
    )
    for (const [name, known] of before) if (next.get(name) !== known) this.#tell(name)
  }

  #isInForce({ expires }: KeyEntry): boolean {
    return expires === undefined || this.#modules.clock.now() < Date.parse(expires)
  }

  #forget({ name }: KeyEntry): void {
    this.#take(new Map([...this.#known].filter(([other]) => other !== name)))
  }

  #tell(name: string): void {
    for (const listener of [...this.#listeners]) listener(name)
  }
}

function credentialsOf({ keyHash, certificate }: KeyEntry): string[] {
  return [
    ...(keyHash === undefined ? [] : [`key ${keyHash}`]),
    ...(certificate === undefined ? [] : [`certificate ${certificate}`]),
  ]
}
