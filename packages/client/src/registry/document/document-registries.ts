import type { RpcState, RpcStatus } from '@runnel/contracts'
import { isRunnelError, toNodeId, type Cancel, type Clock, type RunnelError } from '@runnel/protocol'
import { asError, clientError, reasonOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { Registries, StreamInfo } from '../ports.ts'
import { createStaticRegistries } from '../static-registries.ts'
import { changesBetween } from './document-changes.ts'
import { DocumentSource, type Files } from './document-source.ts'
import {
  checkNetworkDocument,
  maxDocumentBytes,
  newerDocument,
  requireRevision,
  type CheckedDocument,
  type DocumentTools,
} from './network-document.ts'

export interface DocumentOptions {
  /** Who signs the document. */
  readonly owner: string
  /** URLs and, in Node, files in which it is found: the newest of them counts. */
  readonly sources: readonly string[]
  /** Older ones are not accepted. */
  readonly revision?: number | undefined
  /** A file that keeps what was accepted: older documents are refused after a restart too, and it starts without any source. */
  readonly copy?: string | undefined
  readonly pollIntervalMs: number
}

export interface DocumentModules extends DocumentTools {
  readonly clock: Clock
  readonly logger: Logger
  readonly files?: Files | undefined
}

/** What became of a source the last time. */
interface Found {
  readonly source: DocumentSource
  readonly document?: CheckedDocument
  readonly error?: RunnelError
}

const states: Readonly<Record<string, RpcState>> = {
  NETWORK_DOCUMENT_OLDER: 'lagging',
  NETWORK_DOCUMENT_NOT_OWNERS: 'differs',
}

/**
 * The registries of a network that its owner describes in a signed document. Throws NETWORK_DOCUMENT_UNREACHABLE, …_INVALID,
 * …_NOT_OWNERS or …_OLDER, where no source has one that counts.
 */
export async function openDocumentRegistries(
  options: DocumentOptions,
  modules: DocumentModules,
): Promise<Registries> {
  const { logger, clock, files } = modules
  const owner = toNodeId(options.owner)
  const aborter = new AbortController()
  const sources = options.sources.map((place) => new DocumentSource(place, files))
  const statuses = new Map<DocumentSource, RpcStatus>()
  let current: CheckedDocument | undefined
  let events: Parameters<Registries['start']>[0] | undefined
  let cancel: Cancel = () => {}
  let isReachable = true

  const accept = (text: string): CheckedDocument => {
    // Most of the time it is the one that is known.
    const document = text === current?.text ? current : checkNetworkDocument(text, owner, modules)
    requireRevision(document, options.revision ?? 1)
    return document
  }

  const look = async (source: DocumentSource): Promise<Found> => {
    try {
      return { source, document: accept(await source.read(aborter.signal)) }
    } catch (error) {
      return {
        source,
        error: isRunnelError(error) ? error : clientError('NETWORK_DOCUMENT_INVALID', asError(error).message),
      }
    }
  }

  const readAll = async (): Promise<Found[]> => {
    const found = await Promise.all(sources.map(look))
    let newest = current
    for (const { document } of found)
      if (document && document.revision > (newest?.revision ?? 0)) newest = document
    const [before, after] = [current, newest]
    current = newest
    if (after !== undefined && before?.digest !== after.digest) {
      if (options.copy !== undefined) keepCopy(after.text, options.copy, modules)
      for (const change of before ? changesBetween(before, after) : []) events?.onChange(change)
      if (before) logger.info({ revision: after.revision }, 'the network has a new document')
    }
    return found.map((one) => judged(one, current))
  }

  const tell = (found: readonly Found[]): void => {
    for (const { source, document, error } of found) {
      const before = statuses.get(source)
      const status = statusOf(source, document, error, before)
      statuses.set(source, status)
      if ((before?.state ?? 'ok') === status.state) continue
      if (error)
        logger.warn(
          { source: source.shown, code: error.code },
          `the network’s document is not taken: ${error.message}`,
        )
      else logger.info({ source: source.shown }, 'the network’s document can be read again')
      events?.onEndpoint?.(status)
    }
    const error = found.every((one) => one.error) ? found[0]?.error : undefined
    if ((error === undefined) === isReachable) return
    isReachable = error === undefined
    const source = sources.map(({ shown }) => shown).join(', ')
    events?.onHealth({ state: isReachable ? 'reachable' : 'unreachable', source, ...(error && { error }) })
  }

  const poll = () => {
    cancel = clock.schedule(options.pollIntervalMs, () => {
      void readAll().then((found) => {
        if (events === undefined) return
        tell(found)
        poll()
      })
    })
  }

  if (options.copy !== undefined && files !== undefined) {
    const kept = await readCopy(options.copy, files, (text) => checkNetworkDocument(text, owner, modules))
    if (kept !== undefined && kept.revision >= (options.revision ?? 1)) current = kept
  }
  const first = await readAll()
  const start = current
  if (start === undefined)
    throw first.find(({ error }) => error)?.error ?? clientError('NETWORK_DOCUMENT_UNREACHABLE')
  return registriesOf(() => current ?? start, {
    endpoints: () => [...statuses.values()],
    start: async (given) => {
      if (events !== undefined) return
      events = given
      tell(first)
      poll()
    },
    stop: async () => {
      events = undefined
      cancel()
      aborter.abort()
    },
  })
}

/** Undefined the first time, as there is none. Without a copy that is there, an older document would be taken: so it is no less than an error. */
async function readCopy(
  path: string,
  files: Files,
  check: (text: string) => CheckedDocument,
): Promise<CheckedDocument | undefined> {
  try {
    return check(await files.read(path, maxDocumentBytes))
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw clientError('NETWORK_DOCUMENT_COPY_UNUSABLE', `${path} (${reasonOf(cause)})`, { cause })
  }
}

function keepCopy(text: string, path: string, { files, logger }: DocumentModules): void {
  try {
    files?.write(path, text)
  } catch (error) {
    logger.warn({ path, reason: reasonOf(error) }, 'the copy of the network’s document could not be written')
  }
}

/** One that is older than what is known is no news, and nor is another one of the same revision. */
function judged(found: Found, current: CheckedDocument | undefined): Found {
  if (found.document === undefined || current === undefined) return found
  try {
    newerDocument(current, found.document)
    return found
  } catch (error) {
    return { ...found, error: error as RunnelError }
  }
}

function statusOf(
  { shown }: DocumentSource,
  document: CheckedDocument | undefined,
  error: RunnelError | undefined,
  before: RpcStatus | undefined,
): RpcStatus {
  const block = document?.revision ?? before?.block ?? 0
  if (error === undefined) return { endpoint: shown, state: 'ok', block }
  return { endpoint: shown, state: states[error.code] ?? 'failing', block, reason: error.message }
}

/** Each call answers from the document that counts now; what chains know by their blocks, this knows by revisions. */
function registriesOf(
  current: () => CheckedDocument,
  own: Pick<Registries, 'endpoints' | 'start' | 'stop'>,
): Registries {
  const parsed = new WeakMap<CheckedDocument, Registries>()
  const now = (): Registries => {
    const document = current()
    const known = parsed.get(document) ?? createStaticRegistries(document.network)
    parsed.set(document, known)
    return known
  }
  const dated = (info: StreamInfo): StreamInfo => ({
    ...info,
    createdMs: current().history.get(info.id)?.createdMs ?? 0,
  })
  const fixed = now()
  return {
    ...fixed,
    ...own,
    document: () => current().text,
    streams: {
      ...fixed.streams,
      getStream: async (id) => {
        const stream = await now().streams.getStream(id)
        return stream && dated(stream)
      },
      listStreams: async (filter) => (await now().streams.listStreams(filter)).map(dated),
      permissionsOf: (id, user) => now().streams.permissionsOf(id, user),
      permissionTable: async (id) => {
        const { entries } = await now().streams.permissionTable(id)
        const { revision, history } = current()
        return { entries, block: revision, lossBlock: history.get(id)?.lossRevision ?? 0 }
      },
    },
    trackers: { ...fixed.trackers, listTrackers: () => now().trackers.listTrackers() },
    storage: {
      ...fixed.storage,
      storageNodesOf: (id) => now().storage.storageNodesOf(id),
      listStorageNodes: () => now().storage.listStorageNodes(),
      streamsStoredBy: (nodeId) => now().storage.streamsStoredBy(nodeId),
    },
  }
}
