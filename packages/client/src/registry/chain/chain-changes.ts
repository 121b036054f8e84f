import {
  permissionedTrackerRegistryAbi,
  storageRegistryAbi,
  streamRegistryAbi,
  type RegistryAddresses,
} from '@runnel/contracts'
import { isRunnelError, toNodeId, toStreamId, type Cancel, type Clock } from '@runnel/protocol'
import { Interface, type Log } from '@runnel/contracts/ethers'
import { clientError, reasonOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { RegistryChange } from '../ports.ts'
import { BlockWindow, type FollowedBlock } from './block-window.ts'
import type { ChainConnection } from './chain-connection.ts'
import { toPermissions, type ContractPermissions } from './chain-stream-reader.ts'

/** Blocks whose events are requested at once; after a longer silence everything is read again instead. */
const maxBlocksPerPoll = 2000

/** As many where the endpoint refuses to tell events. */
const maxRefusedBlocks = 30

/** Blocks that a chain may take back before everything is read again; `BlockWindow` says which are counted. */
export const maxFollowedBlocks = 64

/**
 * Recent blocks whose events each poll requests again: behind one URL there may be several endpoints, and the one that returns
 * events may lag behind the one that named the newest block. Events known by their block's hash are not reported twice.
 */
const overlapBlocks = 16

/**
 * Follows the events of the registries by polling, block after block, so that nothing is missed while an endpoint is away. A
 * failed poll continues with the next one, from where it stopped.
 *
 * Blocks are followed by their hashes: when the chain replaces some, the changes of the old blocks are reported again as taken
 * back, then the changes of the new ones. If that reaches back too far, or it is a different chain now, the change is `unknown`.
 * Nothing waits for confirmations: decision 026.
 */
export class ChainChanges {
  readonly #connection: ChainConnection
  readonly #registries: RegistryAddresses
  readonly #pollIntervalMs: number
  readonly #clock: Clock
  readonly #logger: Logger
  /** That events are refused is said once, until they are not. */
  #isRefused = false
  #onChange: ((change: RegistryChange) => void) | undefined
  #cancel: Cancel = () => {}
  readonly #followed = new BlockWindow(maxFollowedBlocks)

  constructor(
    options: { registries: RegistryAddresses; pollIntervalMs: number },
    modules: { connection: ChainConnection; clock: Clock; logger: Logger },
  ) {
    this.#registries = options.registries
    this.#pollIntervalMs = options.pollIntervalMs
    this.#connection = modules.connection
    this.#clock = modules.clock
    this.#logger = modules.logger
  }

  /** Reports what changes from now on. Idempotent. */
  async start(onChange: (change: RegistryChange) => void): Promise<void> {
    if (this.#onChange !== undefined) return
    this.#onChange = onChange
    this.#followed.add({ ...(await this.#readHead()), changes: [] })
    this.#scheduleNext()
  }

  stop(): void {
    this.#onChange = undefined
    this.#cancel()
  }

  #scheduleNext(): void {
    if (this.#onChange === undefined) return
    this.#cancel = this.#clock.schedule(this.#pollIntervalMs, () => {
      void this.#poll()
        .catch((error: unknown) => this.#failed(error))
        .finally(() => this.#scheduleNext())
    })
  }

  /** That endpoints do not answer is told by the connection, as a change of its health. */
  #failed(error: unknown): void {
    if (this.#isRefused || !isRunnelError(error, 'CHAIN_CALL_FAILED')) return
    this.#isRefused = true
    this.#logger.warn(
      { reason: reasonOf(error) },
      'the chain’s endpoint refuses to tell the registries’ events: everything is read again from time to time instead',
    )
  }

  async #poll(): Promise<void> {
    const head = await this.#readHead()
    const last = await this.#takeBack(head)
    if (last?.hash === head.hash) return
    const maxBlocks = this.#isRefused ? maxRefusedBlocks : maxBlocksPerPoll
    if (last === undefined || head.number - last.number > maxBlocks) this.#report([{ kind: 'unknown' }])
    else {
      this.#follow(await this.#readLogs(this.#firstToRead(last), head.number))
      this.#isRefused = false
    }
    this.#followed.add({ ...head, changes: [] })
  }

  /** Takes back what the chain has replaced. Returns the last followed block that is still in the chain, if any. */
  async #takeBack(head: Block): Promise<FollowedBlock | undefined> {
    for (;;) {
      const { last } = this.#followed
      if (last === undefined || (await this.#stands(last, head))) return last
      this.#followed.removeLast()
      this.#report(last.changes.map(takenBack))
    }
  }

  async #stands({ number, hash }: FollowedBlock, head: Block): Promise<boolean> {
    if (number > head.number) return false
    if (number === head.number) return hash === head.hash
    if (number === head.number - 1) return hash === head.parentHash
    return (await this.#readBlock(number))?.hash === hash
  }

  /** Not before it began to follow. */
  #firstToRead(last: FollowedBlock): number {
    const oldest = this.#followed.first?.number ?? last.number
    return Math.max(oldest, last.number - overlapBlocks) + 1
  }

  /** Each block's events together, with the hash it had when they were read. */
  #follow(logs: readonly Log[]): void {
    for (const [hash, ofBlock] of Map.groupBy(logs, ({ blockHash }) => blockHash)) {
      if (this.#followed.hasChangesOf(hash)) continue
      const changes = ofBlock.map(toChange).filter((change) => change !== undefined)
      this.#followed.add({ number: ofBlock[0]?.blockNumber ?? 0, hash, changes })
      this.#report(changes)
    }
  }

  async #readHead(): Promise<Block> {
    const head = await this.#readBlock('latest')
    if (head === undefined) throw clientError('CHAIN_CALL_FAILED', `${this.#connection.source} has no block`)
    return head
  }

  /** Undefined when the chain is not that long. */
  async #readBlock(tag: number | 'latest'): Promise<Block | undefined> {
    const block = await this.#connection.call(() => this.#connection.provider.getBlock(tag))
    if (block === null || block.hash === null) return undefined
    const { number, hash, parentHash } = block
    return { number, hash, parentHash }
  }

  #readLogs(fromBlock: number, toBlock: number): Promise<Log[]> {
    const address = Object.values(this.#registries)
    return this.#connection.call(() => this.#connection.provider.getLogs({ address, fromBlock, toBlock }))
  }

  #report(changes: readonly RegistryChange[]): void {
    for (const change of changes) this.#onChange?.(change)
  }
}

interface Block {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
}

const events = new Interface(
  [...permissionedTrackerRegistryAbi, ...streamRegistryAbi, ...storageRegistryAbi].filter(
    ({ type }) => type === 'event',
  ),
)

/** Nobody knows what was before it. */
function takenBack(change: RegistryChange): RegistryChange {
  if (change.kind !== 'permissions') return change
  const { permissions: _, ...others } = change
  return others
}

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
        block: log.blockNumber,
        permissions: toPermissions(event.args.getValue('permissions') as ContractPermissions),
      }
    case 'PublicPermissionsChanged':
      return {
        kind: 'permissions',
        streamId: toStreamId(String(event.args.getValue('streamId'))),
        user: 'public',
        block: log.blockNumber,
      }
    case 'DelegateRevoked':
      return {
        kind: 'delegations',
        userId: toNodeId(String(event.args.getValue('user'))),
        delegateId: toNodeId(String(event.args.getValue('delegate'))),
      }
    case 'DelegationsRevoked':
      return {
        kind: 'delegations',
        userId: toNodeId(String(event.args.getValue('user'))),
        begunByMs: Number(event.args.getValue('begunByMs')),
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
