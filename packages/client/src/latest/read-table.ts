import type { NetworkNode } from '@runnel/network'
import {
  latestCapability,
  toStreamPartId,
  type MessageBatch,
  type StorageAnswer,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'
import { deadline } from '../deadline.ts'
import { clientError, reasonOf } from '../errors.ts'
import type { SourceModules } from '../resend/storage-source.ts'
import type { LatestLimits } from './limits.ts'

/** Of every key, or of one. */
export interface TableRequest {
  readonly streamPartId: StreamPartId
  readonly tag: Uint8Array | undefined
}

export interface ReadTableModules extends SourceModules {
  readonly node: Pick<NetworkNode, 'hasCapability'>
}

/**
 * The batches in which one storage node has the newest messages of keys, unchecked but for their stream part. Rejects with RESEND_LINK_LOST,
 * RESEND_TIMEOUT, RESEND_DENIED, RESEND_REFUSED, RESEND_INVALID_ANSWER, TABLE_TOO_LARGE or ABORTED.
 */
export async function readTable(
  { streamPartId, tag }: TableRequest,
  peer: WantedNeighbour,
  limits: LatestLimits,
  modules: ReadTableModules,
  signal: AbortSignal,
): Promise<readonly MessageBatch[]> {
  const { requests, tokens, clock, limits: resendLimits, node } = modules
  const { nodeId } = peer
  const batches: MessageBatch[] = []
  const { promise, resolve, reject } = Promise.withResolvers<readonly MessageBatch[]>()
  promise.catch(() => {})
  const { maxSourceWindowBytes: windowBytes, idleTimeoutMs, minSourceBytesPerSecond } = resendLimits
  let [bytes, taken] = [0, 0]
  let send = (_granted: number) => {}
  const take = (batch: MessageBatch) => {
    const { streamId, partition } = batch.chain
    bytes += batch.bytes.length
    if (toStreamPartId(streamId, partition) !== streamPartId)
      return reject(clientError('RESEND_INVALID_ANSWER', `${nodeId}: what was not asked for`))
    batches.push(batch)
    if (bytes + batches.length * limits.tableBatchBytes > limits.maxTableBytes)
      return reject(
        clientError(
          'TABLE_TOO_LARGE',
          `${streamPartId} at ${nodeId}: more than maxBytes, which is ${limits.maxTableBytes}`,
        ),
      )
    taken += batch.bytes.length + 4
    if (taken * 4 < windowBytes) return
    send(taken)
    taken = 0
  }
  const idle = { cancel: () => {} }
  let beganMs = clock.monotonicMs()
  // Each answer is waited for so long, and all of them as long as what came takes at the lowest rate.
  const wait = () => {
    idle.cancel()
    const allowedMs = idleTimeoutMs + (bytes / minSourceBytesPerSecond) * 1_000
    const leftMs = Math.min(idleTimeoutMs, allowedMs - (clock.monotonicMs() - beganMs))
    idle.cancel = clock.schedule(Math.max(0, leftMs), () => reject(clientError('RESEND_TIMEOUT', nodeId)))
  }
  const onAnswer = (answer: StorageAnswer) => {
    if (answer.type === 'resendData') take(answer.batch)
    else if (answer.type !== 'resendEnd')
      reject(clientError('RESEND_INVALID_ANSWER', `${nodeId}: ${answer.type}`))
    else if (answer.code === '') resolve(batches)
    else reject(refusal(nodeId, answer))
    wait()
  }
  const lost = (cause?: unknown) =>
    reject(clientError('RESEND_LINK_LOST', `${nodeId}${cause === undefined ? '' : ` (${reasonOf(cause)})`}`))
  const onAbort = () => reject(clientError('ABORTED', undefined, { cause: signal.reason }))
  signal.addEventListener('abort', onAbort)
  const opening = deadline(clock, resendLimits.startTimeoutMs, signal)
  try {
    if (signal.aborted) onAbort()
    const link = await requests
      .open(peer, streamPartId, { onAnswer, onLinkClosed: () => lost() }, opening.signal)
      .catch((error: unknown) => lost(error))
    if (link === undefined) return await promise
    try {
      if (!node.hasCapability(nodeId, latestCapability))
        throw clientError('RESEND_REFUSED', `${nodeId} keeps no tables`)
      const { requestId } = link
      send = (granted) => void link.send({ type: 'resendMore', requestId, bytes: granted })
      beganMs = clock.monotonicMs()
      wait()
      const token = tokens.tokenFor(nodeId)
      if (!(await link.send({ type: 'askTable', requestId, streamPartId, tag, windowBytes, token }))) lost()
      return await promise.catch((error: unknown) => {
        void link.send({ type: 'resendCancel', requestId })
        throw error
      })
    } finally {
      link.close()
    }
  } finally {
    opening.end()
    idle.cancel()
    signal.removeEventListener('abort', onAbort)
  }
}

function refusal(nodeId: string, { code, text }: { readonly code: string; readonly text: string }) {
  const isDenied = ['NOT_PERMITTED', 'TOKEN_INVALID'].includes(code) || code.startsWith('DELEGATION_')
  return clientError(isDenied ? 'RESEND_DENIED' : 'RESEND_REFUSED', `${nodeId} answered ${code}: ${text}`)
}
