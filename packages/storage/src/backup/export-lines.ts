import { decodeBatch, isRunnelError, limits, type RunnelError } from '@runnel/protocol'
import { z } from 'zod'
import { storageError } from '../errors.ts'
import type { StoredBatch } from './stored-batches.ts'

/** The longest line of an export. */
export const maxExportLineBytes = 2 * (limits.maxBatchBytes + limits.maxDelegationBytes)

const head = { runnel: 'export', version: 1 } as const
const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)
const headLine = z.object({ runnel: z.literal(head.runnel), version: z.literal(head.version) })
const batchLine = z.object({ batch: base64, delegation: base64.optional() })
const endLine = z.object({ end: z.object({ batches: z.number() }) })

/** What an export consists of, or why a line of it is left out: lines are counted from 1. */
export type ImportedLine = StoredBatch | { readonly line: number; readonly error: RunnelError }

/**
 * Batches as lines of JSON: what kind of file it is, a line for each batch as it was signed, in base64, with the delegation that it names,
 * and how many there were. What else is in the line of a batch is for people and their tools.
 */
export async function* exportLines(batches: AsyncIterable<StoredBatch>): AsyncGenerator<string> {
  let count = 0
  yield lineOf(head)
  for await (const { batch, delegation } of batches) {
    const { streamId, partition, publisherId } = batch.chain
    yield lineOf({
      ...{ streamId, partition, publisherId },
      timestamp: batch.messages[0]?.timestamp,
      messages: batch.messages.length,
      batch: textOf(batch.bytes),
      delegation: delegation && textOf(delegation),
    })
    count++
  }
  yield lineOf({ end: { batches: count } })
}

/**
 * Reads such lines, with an error for each that is none; the text of a line that is too long is undefined. Lines of batches may have been
 * taken out, as each stands by itself. Throws EXPORT_INVALID where the beginning is another's, or the end is missing.
 */
export async function* readExport(
  lines: AsyncIterable<{ readonly number: number; readonly text: string | undefined }>,
): AsyncGenerator<ImportedLine> {
  let batches = 0
  let isComplete = false
  for await (const { number, text } of lines) {
    if (number === 1) {
      requireHead(text)
      continue
    }
    const read = readLine(text)
    isComplete = read === 'end'
    if (read instanceof Error) yield { line: number, error: read }
    else if (read !== 'end') {
      batches++
      yield read
    }
  }
  if (!isComplete) throw storageError('EXPORT_INVALID', `its end is missing; ${batches} batches were read`)
}

function requireHead(text: string | undefined): void {
  const value = jsonOf(text)
  if (!headLine.safeParse(value).success)
    throw storageError('EXPORT_INVALID', `its first line is not ${JSON.stringify(head)}`)
}

/** A batch, the end, or what is wrong. */
function readLine(text: string | undefined): StoredBatch | 'end' | RunnelError {
  const value = jsonOf(text)
  if (endLine.safeParse(value).success) return 'end'
  const parsed = batchLine.safeParse(value)
  if (!parsed.success)
    return storageError('EXPORT_INVALID', text === undefined ? 'a line that is too long' : 'no batch')
  const { batch, delegation } = parsed.data
  try {
    return {
      batch: decodeBatch(bytesOf(batch)),
      delegation: delegation === undefined ? undefined : bytesOf(delegation),
    }
  } catch (error) {
    if (isRunnelError(error)) return error
    throw error
  }
}

function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
