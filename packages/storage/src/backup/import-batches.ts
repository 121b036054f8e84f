import {
  boundsProblem,
  coversBatch,
  decodeDelegation,
  delegationRef,
  isRunnelError,
  isSignedByKey,
  verifyBatch,
  type Crypto,
  type Delegation,
  type DelegationRef,
  type MessageBatch,
  type RunnelError,
} from '@runnel/protocol'
import { storageError } from '../errors.ts'
import type { MessageStore } from '../store/message-store.ts'
import { countedBytes } from '../store/stored-delegations.ts'
import type { ImportedLine } from './export-lines.ts'
import type { StoredBatch } from './stored-batches.ts'

export interface ImportModules {
  readonly store: Pick<MessageStore, 'append'>
  readonly crypto: Crypto
  /** Told of each batch that is left out. */
  readonly onRefused: (error: RunnelError, line: number | undefined) => void
}

export interface Imported {
  /** Now stored; some of them perhaps before. */
  readonly batches: number
  readonly messages: number
  readonly refused: number
}

/** Batches and bytes that are stored together. */
const chunk = { batches: 500, bytes: 4 * 1024 * 1024 }

/**
 * Stores batches of another store. Each is checked: that its publisher signed it, or a delegate that its publisher let do so. Who might
 * publish when is for the registry, and checked by readers, as is the signature of a contract under a delegation. Throws what a store throws.
 */
export async function importBatches(
  batches: AsyncIterable<ImportedLine>,
  { store, crypto, onRefused }: ImportModules,
): Promise<Imported> {
  const total = { batches: 0, messages: 0, refused: 0 }
  let waiting: StoredBatch[] = []
  let bytes = 0
  const flush = async () => {
    await store.append(
      waiting.map(({ batch }) => batch),
      delegationsOf(waiting),
    )
    total.batches += waiting.length
    total.messages += waiting.reduce((sum, { batch }) => sum + batch.messages.length, 0)
    waiting = []
    bytes = 0
  }
  for await (const one of batches) {
    const refuse = (error: RunnelError, line?: number) => {
      total.refused++
      onRefused(error, line)
    }
    if ('error' in one) {
      refuse(one.error, one.line)
      continue
    }
    const problem = problemOf(one, crypto)
    if (problem === undefined) {
      waiting.push(one)
      bytes += countedBytes(one.batch, one.delegation)
    } else refuse(problem)
    if (waiting.length >= chunk.batches || bytes >= chunk.bytes) await flush()
  }
  await flush()
  return total
}

function problemOf({ batch, delegation: encoded }: StoredBatch, crypto: Crypto): RunnelError | undefined {
  const { delegationRef: ref, chain } = batch
  const refused = (why: string) =>
    storageError('BATCH_NOT_GENUINE', `${chain.streamId}#${chain.partition} of ${chain.publisherId}: ${why}`)
  if (ref === undefined)
    return verifyBatch(batch, crypto) ? undefined : refused('its publisher did not sign it')
  if (encoded === undefined) return refused('its delegation is missing')
  if (delegationRef(encoded, crypto) !== ref) return refused('its delegation is another one')
  const delegation = decoded(encoded)
  if (delegation === undefined || boundsProblem(delegation) !== undefined || !coversBatch(delegation, batch))
    return refused('its delegation does not allow it')
  if (!isProbablySigned(delegation, crypto)) return refused('its publisher did not sign the delegation')
  return verifyBatch(batch, crypto, delegation.delegateId)
    ? undefined
    : refused('the delegate did not sign it')
}

/** What a contract's owners sign only the contract can tell; a key signs 65 bytes. */
function isProbablySigned(delegation: Delegation, crypto: Crypto): boolean {
  return delegation.signature.length !== 65 || isSignedByKey(delegation, crypto)
}

function decoded(bytes: Uint8Array): Delegation | undefined {
  try {
    return decodeDelegation(bytes)
  } catch (error) {
    if (isRunnelError(error)) return undefined
    throw error
  }
}

function delegationsOf(batches: readonly StoredBatch[]): ReadonlyMap<DelegationRef, Uint8Array> {
  const named = ({ batch, delegation }: { batch: MessageBatch; delegation: Uint8Array | undefined }) =>
    batch.delegationRef === undefined || delegation === undefined
      ? []
      : [[batch.delegationRef, delegation] as const]
  return new Map(batches.flatMap(named))
}
