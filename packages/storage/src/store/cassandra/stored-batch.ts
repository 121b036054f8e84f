import type { types } from 'cassandra-driver'
import { toNodeId, type NodeId } from '@runnel/protocol'
import type { IndexedBatch } from '../last-messages.ts'
import { bucketMs } from './schema.ts'

export interface StoredBatch extends IndexedBatch {
  readonly level: number
  readonly bucket: number
  readonly publisher: NodeId
  readonly name: string
  readonly size: number
  /** Only when asked for. */
  readonly bytes: Uint8Array | undefined
}

/** Whose batches: of everybody, of a publisher, of one of its chains. */
export interface Filter {
  readonly publisherId?: NodeId | undefined
  readonly messageChainId?: string | undefined
}

export function bucketOf(timestampMs: number): number {
  return Math.floor(timestampMs / bucketMs)
}

/** The columns of the key of a batch within its partition. */
export function keyOf(
  batch: Pick<StoredBatch, 'firstTime' | 'firstNumber' | 'lastTime' | 'lastNumber' | 'publisher' | 'name'>,
): (string | number)[] {
  const { firstTime, firstNumber, lastTime, lastNumber, publisher, name } = batch
  return [firstTime, firstNumber, lastTime, lastNumber, publisher, name]
}

export function toBatch(level: number, bucket: number, row: types.Row): StoredBatch {
  const number = (column: string) => Number(row.get(column))
  const [publisher, name] = [toNodeId(String(row.get('publisher'))), String(row.get('chain'))]
  return {
    level,
    bucket,
    firstTime: number('first_time'),
    firstNumber: number('first_number'),
    lastTime: number('last_time'),
    lastNumber: number('last_number'),
    chain: `${publisher} ${name}`,
    publisher,
    name,
    messages: number('messages'),
    size: number('size'),
    bytes: row.get('bytes') as Uint8Array | undefined,
  }
}
