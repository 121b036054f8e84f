import type { NetworkNode } from '@runnel/network'
import type { Clock, MessageBatch, NodeId, StreamMessage, StreamPartId } from '@runnel/protocol'
import type { BatchCheck } from '../resend/batch-check.ts'
import type { LatestLimits } from './limits.ts'
import { lastIn, newerOf } from './newest.ts'

export interface AskNeighboursModules {
  readonly node: Pick<NetworkNode, 'neighboursOf' | 'askLatest' | 'waitForNeighbours' | 'on'>
  readonly check: Pick<BatchCheck, 'check'>
  readonly clock: Clock
}

/**
 * The newest message of a key, or of all, that some neighbours of a joined stream part know, checked. Undefined where none knows one, there is
 * nobody, or the signal is aborted before. Rejects with what the registry throws.
 */
export async function askNeighbours(
  { streamPartId, tag }: { readonly streamPartId: StreamPartId; readonly tag: Uint8Array | undefined },
  limits: LatestLimits,
  { node, check, clock }: AskNeighboursModules,
  signal: AbortSignal,
): Promise<StreamMessage | undefined> {
  const ending = new AbortController()
  const until = AbortSignal.any([signal, ending.signal])
  const asked = new Set<NodeId>()
  const { promise: done, resolve: end, reject: fail } = Promise.withResolvers<void>()
  let open = 0
  let best: StreamMessage | undefined
  let cancel = () => {}
  const endAfter = (delayMs: number) => {
    cancel()
    cancel = clock.schedule(delayMs, () => end())
  }
  const answered = async (batch: MessageBatch | undefined) => {
    const message = batch && lastIn(batch, streamPartId, tag)
    if (batch === undefined || message === undefined || (await check.check(batch)) !== 'good') return
    if (best === undefined) endAfter(limits.settleMs)
    best = newerOf(best, message)
  }
  const ask = async (peerId: NodeId) => {
    open++
    try {
      await answered(await node.askLatest(peerId, streamPartId, { tag, signal: until }))
    } catch (error) {
      if (!until.aborted) fail(error)
    }
    open--
    if (open === 0 && (best !== undefined || asked.size >= limits.maxAsked)) end()
    else if (best === undefined) endAfter(open === 0 ? limits.quietMs : limits.slowMs)
  }
  const askAll = () => {
    for (const peerId of node.neighboursOf(streamPartId)) {
      if (asked.size >= limits.maxAsked || asked.has(peerId)) continue
      asked.add(peerId)
      void ask(peerId)
    }
  }
  const unlisten = node.on('neighbours', (id) => id === streamPartId && askAll())
  const onAbort = () => end()
  signal.addEventListener('abort', onAbort)
  try {
    await node.waitForNeighbours(streamPartId, { orAlone: true, signal }).catch(() => end())
    askAll()
    if (asked.size > 0 && !signal.aborted) await done
    return best
  } finally {
    unlisten()
    cancel()
    ending.abort()
    signal.removeEventListener('abort', onAbort)
  }
}
