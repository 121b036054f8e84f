import { Readable } from 'node:stream'
import {
  anyRequester,
  decodeBatch,
  isRunnelError,
  type Cancel,
  type Clock,
  type MessageBatch,
  type StreamPartId,
} from '@runnel/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { storageError } from '../errors.ts'
import type { Access } from '../access.ts'
import type { Ingest } from '../ingest.ts'
import { extentOf, pagesOf, requireStored, type Extent, type Query } from '../selection.ts'
import { refusalOf } from '../server/refusal.ts'
import { Slots } from '../server/slots.ts'
import type { StorageLimits } from '../storage-limits.ts'
import type { MessageStore } from '../store/message-store.ts'
import { noDelegations, type EncodedDelegations } from '../store/stored-delegations.ts'
import { everyNowAndThen, nextTurn } from '../waiting.ts'
import { parseAccessHeader, parseDelegationHeader } from './access-header.ts'
import { framesOf, linesOf } from './message-line.ts'
import { parseMessageQuery } from './message-query.ts'
import { remoteNetworkOf } from './remote-network.ts'

export interface StorageRoutesOptions {
  readonly maxReads: number
  readonly limits: Pick<StorageLimits, 'pageBytes' | 'flushMs' | 'idleMs' | 'recheckMs' | 'maxHttpShare'>
}

export interface StorageRoutesModules {
  readonly store: MessageStore
  readonly ingest: Pick<Ingest, 'flushed'>
  readonly access: Pick<Access, 'requireSubscriber' | 'requireStillSubscriber'>
  readonly clock: Clock
  readonly isKept: (streamPartId: StreamPartId) => boolean
  readonly oldestMs: (streamPartId: StreamPartId) => Promise<number>
  /** For GET /v1/storage. */
  readonly report: () => Promise<unknown>
  /** For GET /v1/storage/usage. */
  readonly usage: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

type MessagesRequest = FastifyRequest<{
  Params: { streamId: string; partition: string }
  Querystring: Record<string, unknown>
}>

/** How a page of batches is written. */
interface Encoding {
  /** With the delegations that the batches name. */
  readonly isVerifiable: boolean
  readonly encode: (
    batches: readonly MessageBatch[],
    delegations: EncodedDelegations,
  ) => Iterable<string | Uint8Array>
}

const readerGone = new Error('the reader is gone')
/** Bytes prepared for a reader that does not take them yet. */
const readAheadBytes = 64 * 1024

/** What a mistake of the asker is answered with; anything else is 503. */
const statuses: Readonly<Record<string, number>> = {
  ...{ INVALID_ARGUMENT: 400, INVALID_STREAM_ID: 400, INVALID_PARTITION: 400, INVALID_NODE_ID: 400 },
  ...{ TOKEN_INVALID: 401, NOT_PERMITTED: 403, DELEGATION_SCOPE: 403, UNKNOWN_STREAM: 404, NOT_STORED: 404 },
  ...{ TOO_COSTLY: 422, TOO_MANY_REQUESTS: 429 },
}

/** Adds GET /v1/storage, GET /v1/storage/usage and GET /v1/streams/:streamId/partitions/:partition/messages to a server. */
export function addStorageRoutes(
  server: FastifyInstance,
  { maxReads, limits }: StorageRoutesOptions,
  modules: StorageRoutesModules,
): void {
  const { store, ingest, access, clock, oldestMs, report, usage } = modules
  const slots = new Slots({ total: maxReads, perPeer: Math.ceil(maxReads * limits.maxHttpShare) })

  server.get('/v1/storage', () => report())
  server.get('/v1/storage/usage', (_, reply) => usage().catch((error: unknown) => refuse(reply, error)))
  server.get(
    '/v1/streams/:streamId/partitions/:partition/messages',
    async (request: MessagesRequest, reply) => {
      const release = slots.take(remoteNetworkOf(request.ip))
      try {
        if (release === undefined) throw storageError('TOO_MANY_REQUESTS')
        const reader = watchReader(reply, release)
        const query = parseMessageQuery(request.params, request.query, clock.now())
        const token = parseAccessHeader(request.headers.authorization)
        const delegation = parseDelegationHeader(request.headers['runnel-delegation'])
        const asker = { requesterId: anyRequester, token, delegation }
        await access.requireSubscriber(query.streamPartId, asker)
        await requireStored(modules, query.streamPartId)
        await ingest.flushed(limits.flushMs)
        const extent = await extentOf(store, query, await oldestMs(query.streamPartId), reader.signal)
        const isRaw = request.headers.accept?.includes('application/octet-stream') === true
        const isVerifiable = isRaw || query.wholeBatches
        const encode = isRaw ? framesOf : lineEncoder(extent, query.wholeBatches)
        const recheck = everyNowAndThen(clock, limits.recheckMs, () =>
          access.requireStillSubscriber(query.streamPartId, asker),
        )
        const onTaken = () => {
          reader.tookSome()
          return recheck()
        }
        const body = Readable.from(bodyOf(query, extent, { isVerifiable, encode }, onTaken, reader.signal), {
          objectMode: false,
          highWaterMark: readAheadBytes,
        })
        body.once('error', (error) => {
          if (refusalOf(error).isOurs) modules.onError(error)
        })
        return await answer(reply, body, extent, isRaw)
      } catch (error) {
        return refuse(reply, error)
      }
    },
  )

  /** Until the answer is sent, or its socket closes; a reader that takes nothing for too long is hung up on. */
  function watchReader({ raw }: FastifyReply, release: () => void) {
    const gone = new AbortController()
    let cancel: Cancel = () => {}
    const tookSome = () => {
      cancel()
      if (!gone.signal.aborted) cancel = clock.schedule(limits.idleMs, () => raw.destroy())
    }
    raw.once('close', () => {
      gone.abort(readerGone)
      cancel()
      release()
    })
    tookSome()
    return { signal: gone.signal, tookSome }
  }

  async function* bodyOf(
    query: Query,
    extent: Extent | undefined,
    { isVerifiable, encode }: Encoding,
    onTaken: () => Promise<void>,
    gone: AbortSignal,
  ): AsyncGenerator<string | Uint8Array> {
    if (extent === undefined) return
    const range = { ...query, from: extent.from, to: extent.to }
    for await (const page of pagesOf(store, range, limits.pageBytes)) {
      const batches = page.map((bytes) => decodeBatch(bytes))
      const delegated = isVerifiable ? batches.filter(isDelegated) : []
      const delegations = delegated.length > 0 ? await store.delegationsOf(delegated) : noDelegations
      for (const chunk of encode(batches, delegations)) {
        // The body of HEAD is taken by nobody, and read to its end by the server.
        if (gone.aborted) return
        yield chunk
        await onTaken()
      }
      await nextTurn(clock)
    }
  }

  function refuse(reply: FastifyReply, error: unknown) {
    const isKnown = isRunnelError(error) && statusOf(error.code) !== undefined
    const refusal = isKnown
      ? { code: error.code, text: error.message, remedy: error.remedy, isOurs: false }
      : refusalOf(error)
    if (refusal.isOurs && error !== readerGone) modules.onError(error)
    const { code, text: message, remedy } = refusal
    if (statusOf(code) === 401) reply.header('www-authenticate', 'Runnel')
    return reply.code(statusOf(code) ?? 503).send({ error: { code, message, remedy } })
  }
}

/** All that can be wrong with a delegation but what it is for is wrong with who asks. */
function statusOf(code: string): number | undefined {
  return statuses[code] ?? (code.startsWith('DELEGATION_') ? 401 : undefined)
}

function isDelegated({ delegationRef }: MessageBatch): boolean {
  return delegationRef !== undefined
}

function lineEncoder(extent: Extent | undefined, wholeBatches: boolean): Encoding['encode'] {
  return function* (batches, delegations) {
    if (extent === undefined) return
    for (const batch of batches) {
      const { delegationRef: ref } = batch
      const delegation = ref && delegations.get(ref)
      yield linesOf(batch, extent, wholeBatches ? { delegation } : undefined)
    }
  }
}

function answer(reply: FastifyReply, body: Readable, extent: Extent | undefined, isRaw: boolean) {
  if (extent !== undefined) {
    const { from, to, count } = extent
    reply.header('runnel-from', `${from.timestamp}-${from.sequenceNumber}`)
    reply.header('runnel-to', `${to.timestamp}-${to.sequenceNumber}`)
    if (count > 0) reply.header('runnel-count', count)
  }
  return reply.type(isRaw ? 'application/octet-stream' : 'application/x-ndjson').send(body)
}
