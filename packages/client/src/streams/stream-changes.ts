import {
  decodeCard,
  encryptionChoiceFault,
  fromBase64Url,
  lastValuesFault,
  limits,
  metadataField,
  overlayChoiceFault,
  toNodeId,
  streamIdOf,
  type Card,
  type NodeId,
} from '@runnel/protocol'
import { jsonArgument } from '../content/json-text.ts'
import { clientError } from '../errors.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import type { Grant, PermissionName, StreamDraft, StreamSettings } from '../registry/ports.ts'

/** A stream to create. */
export interface NewStream {
  /** The part of the id after the account's address; alternatively give `id`. */
  readonly path?: string | undefined
  /** The id: `/path`, or the full id, which begins with the account's address; alternatively give `path`. */
  readonly id?: string | undefined
  /** 1 to 100. Default 1. */
  readonly partitions?: number | undefined
  /** Free text, by convention JSON; any other value is converted to JSON. Default `{}`. */
  readonly metadata?: unknown
  /** The stream's own trackers. Default: the network's. */
  readonly trackers?: readonly string[] | undefined
}

/** Settings of a stream to change; settings not named stay as they are. */
export type StreamUpdate = Pick<NewStream, 'partitions' | 'metadata' | 'trackers'>

/** The grantee: a user, or everybody. */
export type Grantee =
  | {
      /** A node id, or 'public' for all users. */
      readonly user: string
      readonly public?: undefined
    }
  | { readonly public: true; readonly user?: undefined }

/** Permissions to grant, and the grantee. */
export type GrantOptions = Grantee & {
  readonly permissions: readonly PermissionName[]
  /** When publish and subscribe expire: a date or Unix milliseconds. Default: never. */
  readonly expiresAt?: Date | number | undefined
  /**
   * The user's card, which is used to pass keys on to the user, as `runnel reading-key card` prints it. Default: the card that storage nodes
   * have; if there is none, the user asks for keys when it comes online.
   */
  readonly card?: string | undefined
}

/** Permissions to revoke, and from whom. */
export type RevokeOptions = Grantee & { readonly permissions: readonly PermissionName[] }

const updateOptions: OptionNames<StreamUpdate> = { partitions: true, metadata: true, trackers: true }
const newStreamOptions: OptionNames<NewStream> = { path: true, id: true, ...updateOptions }
const revokeOptions: OptionNames<RevokeOptions> = { user: true, public: true, permissions: true }
const grantOptions: OptionNames<GrantOptions> = { ...revokeOptions, expiresAt: true, card: true }

/** Throws INVALID_ARGUMENT, NOT_STREAM_OWNER, INVALID_STREAM_ID or INVALID_NODE_ID. */
export function draftOf(stream: NewStream, owner: NodeId): StreamDraft {
  checkOptions('createStream', stream, newStreamOptions)
  const { path, partitions = 1, metadata = {}, trackers = [] } = stream
  if ((path === undefined) === (stream.id === undefined)) {
    throw clientError('INVALID_ARGUMENT', 'a new stream has either a path or an id')
  }
  const id = streamIdOf(stream.id ?? `/${path}`, owner)
  if (!id.startsWith(`${owner}/`)) throw clientError('NOT_STREAM_OWNER', `${id} is not under ${owner}`)
  return {
    id,
    partitions: checkPartitions(partitions),
    metadata: metadataOf(metadata),
    trackers: trackers.map(toNodeId),
  }
}

/** Throws INVALID_ARGUMENT or INVALID_NODE_ID. */
export function settingsOf(update: StreamUpdate): StreamSettings {
  checkOptions('updateStream', update, updateOptions)
  const { partitions, metadata, trackers } = update
  const settings = {
    ...(partitions === undefined ? {} : { partitions: checkPartitions(partitions) }),
    ...(metadata === undefined ? {} : { metadata: metadataOf(metadata) }),
    ...(trackers === undefined ? {} : { trackers: trackers.map(toNodeId) }),
  }
  if (Object.keys(settings).length === 0) throw clientError('INVALID_ARGUMENT', 'nothing to change is named')
  return settings
}

function checkPartitions(partitions: number): number {
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= limits.maxPartitions) return partitions
  throw clientError('INVALID_ARGUMENT', `${partitions} partitions; a stream has 1 to ${limits.maxPartitions}`)
}

function metadataOf(metadata: unknown): string {
  const text = typeof metadata === 'string' ? metadata : jsonArgument('metadata', metadata)
  const faults = {
    ...{ overlay: overlayChoiceFault, encryption: encryptionChoiceFault, lastValues: lastValuesFault },
  }
  for (const [field, faultOf] of Object.entries(faults)) {
    const value = metadataField(text, field)
    const fault = value === undefined ? undefined : faultOf(value)
    if (fault !== undefined) throw clientError('INVALID_ARGUMENT', `metadata: ${fault}`)
  }
  return text
}

/** Throws INVALID_ARGUMENT or INVALID_NODE_ID. */
export function grantOf(options: GrantOptions): Grant {
  checkOptions('grant', options, grantOptions)
  const { expiresAt } = options
  const untilMs = expiresAt === undefined ? Infinity : Number(expiresAt)
  if (!(untilMs > 0)) throw clientError('INVALID_ARGUMENT', 'expiresAt is no date')
  return { ...toChange(options), untilMs }
}

/** The card in a grant, not yet checked. Throws INVALID_ARGUMENT and CARD_OF_OTHER_USER. */
export function cardIn({ card: text, user }: GrantOptions): Card | undefined {
  if (text === undefined) return undefined
  const card = decodedCard(text)
  if (card.userId !== user?.toLowerCase()) throw clientError('CARD_OF_OTHER_USER', card.userId)
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
export function revokedOf(options: RevokeOptions): Omit<Grant, 'untilMs'> {
  checkOptions('revoke', options, revokeOptions)
  return toChange(options)
}

function toChange(options: RevokeOptions): Omit<Grant, 'untilMs'> {
  const permissions: readonly PermissionName[] | undefined = options.permissions
  if (!permissions?.length) throw clientError('INVALID_ARGUMENT', 'no permissions named')
  for (const name of permissions) {
    if (!permissionNames.has(name))
      throw clientError(
        'INVALID_ARGUMENT',
        `"${String(name)}" is no permission: ${[...permissionNames].join(', ')}`,
      )
  }
  return { user: granteeOf(options), permissions: [...new Set(permissions)] }
}

function granteeOf({ user, public: isPublic }: Grantee): Grant['user'] {
  if (isPublic !== undefined && isPublic !== true)
    throw clientError('INVALID_ARGUMENT', 'public is true, or left out')
  if ((user === undefined) === (isPublic === undefined))
    throw clientError('INVALID_ARGUMENT', 'permissions are for a user, or public: true')
  return isPublic || user === 'public' ? 'public' : toNodeId(user)
}

const permissionNames: ReadonlySet<string> = new Set<PermissionName>([
  'edit',
  'delete',
  'publish',
  'subscribe',
  'grant',
])
