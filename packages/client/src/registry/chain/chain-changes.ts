import {
  permissionedTrackerRegistryAbi,
  storageRegistryAbi,
  streamRegistryAbi,
  type RegistryAddresses,
} from '@runnel/contracts'
import { toNodeId, toStreamId, type Cancel, type Clock } from '@runnel/protocol'
import { Interface, type Log } from 'ethers'
import type { RegistryChange } from '../ports.ts'
import type { ChainConnection } from './chain-connection.ts'

/** Blocks whose events are asked for at once; after a longer silence everything is read again instead. */
const maxBlocksPerPoll = 2000

/**
 * Follows the events of the registries by polling, block after block, so that an endpoint that was away for a while is
 * caught up with. A poll that fails is repeated with the next.
 */
export class ChainChanges {
  readonly #connection: ChainConnection
  readonly #registries: RegistryAddresses
  readonly #pollIntervalMs: number
  readonly #clock: Clock
  #onChange: ((change: RegistryChange) => void) | undefined
  #cancel: Cancel = () => {}
  /** The last block whose events were seen. */
  #seenBlock = 0

  constructor(
    options: { registries: RegistryAddresses; pollIntervalMs: number },
    modules: { connection: ChainConnection; clock: Clock },
  ) {
    this.#registries = options.registries
    this.#pollIntervalMs = options.pollIntervalMs
    this.#connection = modules.connection
    this.#clock = modules.clock
  }

  /** Reports what changes from now on. Idempotent. */
  async start(onChange: (change: RegistryChange) => void): Promise<void> {
    if (this.#onChange !== undefined) return
    this.#onChange = onChange
    this.#seenBlock = await this.#readHead()
    this.#scheduleNext()
  }

  stop(): void {
    this.#onChange = undefined
    this.#cancel()
  }

  #scheduleNext(): void {
    if (this.#onChange === undefined) return
    this.#cancel = this.#clock.schedule(this.#pollIntervalMs, () => {
      // A failure was reported by the connection as a change of its health.
      void this.#poll().then(
        () => this.#scheduleNext(),
        () => this.#scheduleNext(),
      )
    })
  }

  async #poll(): Promise<void> {
    const head = await this.#readHead()
    const from = this.#seenBlock + 1
    if (head < from - 1 || head - from >= maxBlocksPerPoll) this.#report({ kind: 'unknown' })
    else if (head >= from) (await this.#readLogs(from, head)).forEach((log) => this.#reportLog(log))
    this.#seenBlock = head
  }

  #readHead(): Promise<number> {
    return this.#connection.call(() => this.#connection.provider.getBlockNumber())
  }

  #readLogs(fromBlock: number, toBlock: number): Promise<Log[]> {
    const address = Object.values(this.#registries)
    return this.#connection.call(() => this.#connection.provider.getLogs({ address, fromBlock, toBlock }))
  }

  #reportLog(log: Log): void {
    const change = toChange(log)
    if (change !== undefined) this.#report(change)
  }

  #report(change: RegistryChange): void {
    this.#onChange?.(change)
  }
}

const events = new Interface(
  [...permissionedTrackerRegistryAbi, ...streamRegistryAbi, ...storageRegistryAbi].filter(
    ({ type }) => type === 'event',
  ),
)

/** Undefined for events that change nothing that is read here, such as a change of ownership. */
function toChange(log: Log): RegistryChange | undefined {
  const event = events.parseLog(log)
  switch (event?.name) {
    case 'TrackerAdded':
    case 'TrackerUpdated':
    case 'TrackerRemoved':
      return { kind: 'trackers' }
    case 'NodeAllowed':
    case 'NodeRemoved':
      return { kind: 'nodes' }
    case 'StreamCreated':
    case 'StreamUpdated':
    case 'StreamTrackersChanged':
    case 'StreamDeleted':
      return { kind: 'stream', streamId: toStreamId(String(event.args.getValue('streamId'))) }
    case 'PermissionsChanged':
      return {
        kind: 'permissions',
        streamId: toStreamId(String(event.args.getValue('streamId'))),
        user: toNodeId(String(event.args.getValue('user'))),
      }
    case 'PublicPermissionsChanged':
      return {
        kind: 'permissions',
        streamId: toStreamId(String(event.args.getValue('streamId'))),
        user: 'public',
      }
    case 'StorageNodeRegistered':
    case 'StorageNodeUpdated':
    case 'StorageNodeRemoved':
    case 'StreamAssigned':
    case 'StreamUnassigned':
      return { kind: 'storage' }
    default:
      return undefined
  }
}
