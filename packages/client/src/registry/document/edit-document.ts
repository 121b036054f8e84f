import type { NodeId, StreamId } from '@runnel/protocol'
import { clientError, streamNotFound } from '../../errors.ts'
import { directPermissions } from '../static-registries.ts'
import { parseStaticNetwork, type ParsedStaticStream, type StaticNetwork } from '../static-network.ts'
import type { Grant } from '../ports.ts'
import { isLoss } from './document-changes.ts'
import type { CheckedDocument, NetworkDocument, StreamHistory } from './network-document.ts'

/** A tracker or a storage node, and where it is reached. */
export interface NamedUrl {
  readonly nodeId: NodeId
  readonly url: string
}

/** One change of a network's document. */
export type DocumentChange =
  | {
      readonly kind: 'add-stream'
      readonly streamId: StreamId
      readonly partitions: number
      readonly metadata: string
    }
  | { readonly kind: 'remove-stream'; readonly streamId: StreamId }
  | { readonly kind: 'grant'; readonly streamId: StreamId; readonly grant: Grant }
  | { readonly kind: 'revoke'; readonly streamId: StreamId; readonly grant: Omit<Grant, 'untilMs'> }
  /** In place of one with that id, if there is one. */
  | { readonly kind: 'add-tracker'; readonly tracker: NamedUrl }
  | { readonly kind: 'remove-tracker'; readonly nodeId: NodeId }
  | { readonly kind: 'add-storage'; readonly streamId: StreamId; readonly node: NamedUrl }
  | { readonly kind: 'remove-storage'; readonly streamId: StreamId; readonly nodeId: NodeId }

type Stream = StaticNetwork['streams'][number]
type Entry = NonNullable<Stream['permissions']>[number]

/** The first revision. */
export function newDocument(owner: NodeId, trackers: readonly NamedUrl[]): NetworkDocument {
  return { owner, revision: 1, network: { version: 1, trackers: [...trackers], streams: [] }, history: {} }
}

/** The next revision, not signed yet. Throws STREAM_NOT_FOUND, STREAM_EXISTS or INVALID_ARGUMENT. */
export function editDocument(
  before: Pick<CheckedDocument, 'owner' | 'revision' | 'history'> & { readonly network: StaticNetwork },
  change: DocumentChange,
  wallMs: number,
): NetworkDocument {
  const revision = before.revision + 1
  const network = edited(before.network, change, before.owner)
  const history = new Map<string, StreamHistory>(before.history)
  if (change.kind === 'add-stream') history.set(change.streamId, { createdMs: wallMs, lossRevision: 0 })
  if (change.kind === 'remove-stream') history.delete(change.streamId)
  if (change.kind === 'revoke' || change.kind === 'grant') {
    const { streamId } = change
    const known = history.get(streamId) ?? { createdMs: 0, lossRevision: 0 }
    if (takesAway(streamId, before.network, network))
      history.set(streamId, { ...known, lossRevision: revision })
  }
  return { owner: before.owner, revision, network, history: Object.fromEntries(history) }
}

function edited(network: StaticNetwork, change: DocumentChange, owner: NodeId): StaticNetwork {
  const { trackers, streams } = network
  switch (change.kind) {
    case 'add-stream': {
      const { streamId: id, partitions, metadata } = change
      if (streams.some((one) => sameId(one.id, id))) throw clientError('STREAM_EXISTS', id)
      const all = { publish: true, subscribe: true, edit: true, delete: true, grant: true }
      const stream = { id, partitions, metadata, permissions: [{ user: owner, ...all }] }
      return { ...network, streams: [...streams, stream] }
    }
    case 'remove-stream':
      return { ...network, streams: replaced(streams, change.streamId, () => []) }
    case 'grant':
    case 'revoke': {
      const untilMs = change.kind === 'grant' ? change.grant.untilMs : 0
      return {
        ...network,
        streams: replaced(streams, change.streamId, (one) => [withGrant(one, change.grant, untilMs)]),
      }
    }
    case 'add-tracker':
      return { ...network, trackers: withNode(trackers, change.tracker) }
    case 'remove-tracker':
      return { ...network, trackers: without(trackers, change.nodeId) }
    case 'add-storage':
    case 'remove-storage': {
      const nodesOf = (nodes: readonly NamedUrlText[]) =>
        change.kind === 'add-storage' ? withNode(nodes, change.node) : without(nodes, change.nodeId)
      const edit = (one: Stream) => [{ ...one, storageNodes: nodesOf(one.storageNodes ?? []) }]
      return { ...network, streams: replaced(streams, change.streamId, edit) }
    }
  }
}

type NamedUrlText = StaticNetwork['trackers'][number]

const sameId = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

function withNode(nodes: readonly NamedUrlText[], node: NamedUrl): NamedUrlText[] {
  return [...nodes.filter(({ nodeId }) => !sameId(nodeId, node.nodeId)), node]
}

function without(nodes: readonly NamedUrlText[], nodeId: NodeId): NamedUrlText[] {
  const others = nodes.filter((one) => !sameId(one.nodeId, nodeId))
  if (others.length === nodes.length) throw clientError('INVALID_ARGUMENT', `${nodeId} is not in it`)
  return others
}

/** Throws STREAM_NOT_FOUND. */
function replaced(streams: readonly Stream[], id: StreamId, edit: (stream: Stream) => Stream[]): Stream[] {
  if (!streams.some((one) => one.id === id)) throw streamNotFound(id)
  return streams.flatMap((one) => (one.id === id ? edit(one) : [one]))
}

/** All entries of a user become one. */
function withGrant(stream: Stream, { user, permissions }: Omit<Grant, 'untilMs'>, untilMs: number): Stream {
  const entries = stream.permissions ?? []
  const isTheirs = (one: Entry) => (user === 'public' ? one.user === user : sameId(one.user, user))
  const entry: Entry = Object.assign({}, ...entries.filter(isTheirs), { user }) as Entry
  for (const name of permissions) {
    if (name === 'publish' || name === 'subscribe') entry[name] = untilMs === Infinity ? true : untilMs
    else if (user === 'public') throw clientError('INVALID_ARGUMENT', `${name} cannot be public`)
    else entry[name] = untilMs > 0
    if (untilMs === 0) delete entry[name]
  }
  const hasAny = Object.keys(entry).length > 1
  return { ...stream, permissions: [...entries.filter((one) => !isTheirs(one)), ...(hasAny ? [entry] : [])] }
}

function takesAway(streamId: StreamId, before: StaticNetwork, after: StaticNetwork): boolean {
  const now = new Map(directPermissions(parsedStream(after, streamId)).map((one) => [one.user, one]))
  return directPermissions(parsedStream(before, streamId)).some((was) => isLoss(was, now.get(was.user)))
}

function parsedStream(network: StaticNetwork, streamId: StreamId): ParsedStaticStream | undefined {
  return parseStaticNetwork(network).streams.find(({ id }) => id === streamId)
}
