import {
  decodeCard,
  encryptionChoiceFault,
  fromBase64Url,
  limits,
  metadataField,
  overlayChoiceFault,
  toNodeId,
  toStreamId,
  type Card,
  type NodeId,
} from '@runnel/protocol'
import { clientError } from './errors.ts'
import type { Grant, PermissionName, StreamDraft } from './registry/ports.ts'

/** A stream to create. */
export interface NewStream {
  /** What follows the account's address in the id; or give `id`. */
  readonly path?: string | undefined
  /** The whole id, beginning with the account's address; or give `path`. */
  readonly id?: string | undefined
  /** 1 to 100. Default 1. */
  readonly partitions?: number | undefined
  /** Free text, by convention JSON; anything else is turned into JSON. Default `{}`. */
  readonly metadata?: unknown
  /** The stream's own trackers. Default: the network's. */
  readonly trackers?: readonly string[] | undefined
}

/** Permissions to grant, and the user to grant them to. */
export interface GrantOptions {
  /** A node id, or 'public' for all users. */
  readonly user: string
  readonly permissions: readonly PermissionName[]
  /** When publish and subscribe end: a date or Unix milliseconds. Default: never. */
  readonly expiresAt?: Date | number | undefined
  /**
   * The user's card, by which keys are passed on to it, as `runnel reading-key card` prints it. Default: the one that storage nodes have; where
   * there is none the user asks for keys when it comes.
   */
  readonly card?: string | undefined
}

export type RevokeOptions = Omit<GrantOptions, 'expiresAt' | 'card'>

/** Throws INVALID_ARGUMENT, NOT_STREAM_OWNER, INVALID_STREAM_ID or INVALID_NODE_ID. */
export function draftOf(stream: NewStream, owner: NodeId): StreamDraft {
  const { path, partitions = 1, metadata = {}, trackers = [] } = stream
  if ((path === undefined) === (stream.id === undefined)) {
    throw clientError('INVALID_ARGUMENT', 'a new stream has either a path or an id')
  }
  const id = toStreamId(stream.id ?? `${owner}/${path}`)
  if (!id.startsWith(`${owner}/`)) throw clientError('NOT_STREAM_OWNER', `${id} is not under ${owner}`)
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > limits.maxPartitions) {
    throw clientError(
      'INVALID_ARGUMENT',
      `${partitions} partitions; a stream has 1 to ${limits.maxPartitions}`,
    )
  }
  const text = typeof metadata === 'string' ? metadata : (JSON.stringify(metadata) ?? '{}')
  const faults = { overlay: overlayChoiceFault, encryption: encryptionChoiceFault }
  for (const [field, faultOf] of Object.entries(faults)) {
    const value = metadataField(text, field)
    const fault = value === undefined ? undefined : faultOf(value)
    if (fault !== undefined) throw clientError('INVALID_ARGUMENT', `metadata: ${fault}`)
  }
  return {
    id,
    partitions,
    metadata: text,
    trackers: trackers.map(toNodeId),
  }
}

/** Throws INVALID_ARGUMENT or INVALID_NODE_ID. */
export function grantOf(options: GrantOptions): Grant {
  const { expiresAt } = options
  const untilMs = expiresAt === undefined ? Infinity : Number(expiresAt)
  if (!(untilMs > 0)) throw clientError('INVALID_ARGUMENT', 'expiresAt is no date')
  return { ...revokedOf(options), untilMs }
}

/** The card in a grant, not yet checked. Throws INVALID_ARGUMENT and CARD_OF_OTHER_USER. */
export function cardIn({ card: text, user }: GrantOptions): Card | undefined {
  if (text === undefined) return undefined
  const card = decodedCard(text)
  if (card.userId !== user.toLowerCase()) throw clientError('CARD_OF_OTHER_USER', card.userId)
  return card
}

function decodedCard(text: string): Card {
  try {
    return decodeCard(fromBase64Url(text.trim()) ?? new Uint8Array())
  } catch (error) {
    throw clientError('INVALID_ARGUMENT', 'the card is not what runnel reading-key card prints', {
      cause: error,
    })
  }
}

/** Throws INVALID_ARGUMENT or INVALID_NODE_ID. */
export function revokedOf({ user, permissions }: RevokeOptions): Omit<Grant, 'untilMs'> {
  if (permissions.length === 0) throw clientError('INVALID_ARGUMENT', 'no permissions named')
  for (const name of permissions) {
    if (!permissionNames.has(name)) throw clientError('INVALID_ARGUMENT', `no permission "${String(name)}"`)
  }
  return { user: user === 'public' ? user : toNodeId(user), permissions: [...new Set(permissions)] }
}

const permissionNames: ReadonlySet<string> = new Set<PermissionName>([
  'edit',
  'delete',
  'publish',
  'subscribe',
  'grant',
])
