import type { ErrorArgs } from './abi-types.ts'
import type { abi as permissionedTrackerRegistryAbi } from './generated/permissioned-tracker-registry.ts'
import type { abi as storageRegistryAbi } from './generated/storage-registry.ts'
import type { abi as streamRegistryAbi } from './generated/stream-registry.ts'
import { permissionName } from './permission.ts'

/** The arguments of every custom error of the registries, by name. */
export type RegistryErrors = ErrorArgs<typeof permissionedTrackerRegistryAbi> &
  ErrorArgs<typeof streamRegistryAbi> &
  ErrorArgs<typeof storageRegistryAbi>

/** What each custom error means to the person whose transaction it ended. */
export const errorHints: { readonly [Name in keyof RegistryErrors]: (args: RegistryErrors[Name]) => string } =
  {
    OwnableUnauthorizedAccount: ({ account }) =>
      `Only the owner of the tracker registry may do this, and ${account} is not.`,
    OwnableInvalidOwner: ({ owner }) => `${owner} cannot own the tracker registry.`,

    TrackerRegistry__InvalidTracker: ({ tracker }) => `${tracker} cannot be a tracker.`,
    TrackerRegistry__AlreadyExists: ({ tracker }) => `${tracker} is already a tracker: update it instead.`,
    TrackerRegistry__NotFound: ({ tracker }) => `${tracker} is not a tracker of this registry.`,
    TrackerRegistry__NotPermitted: ({ caller, tracker }) =>
      `Only the owner of the tracker registry or ${tracker} itself may update it, and ${caller} is neither.`,
    TrackerRegistry__InvalidUrl: (args) => invalidUrl(args),
    TrackerRegistry__MetadataTooLong: (args) => metadataTooLong(args),

    PermissionedTrackerRegistry__InvalidNode: ({ node }) => `${node} cannot be a node.`,
    PermissionedTrackerRegistry__TooManyNodes: ({ count, maxCount }) =>
      `At most ${maxCount} nodes can be changed at once, not ${count}.`,

    StreamRegistry__InvalidPath: ({ path }) =>
      `${quote(path)} is not a stream path: 1 to 200 characters from a-z A-Z 0-9 . _ - / with single slashes, none at either end.`,
    StreamRegistry__AlreadyExists: ({ streamId }) => `The stream ${quote(streamId)} already exists.`,
    StreamRegistry__NotFound: ({ streamId }) => `There is no stream ${quote(streamId)}.`,
    StreamRegistry__NotPermitted: ({ user, permission }) =>
      `${user} needs the ${nameOf(permission)} permission on the stream.`,
    StreamRegistry__InvalidPartitions: ({ partitions, maxPartitions }) =>
      `A stream has 1 to ${maxPartitions} partitions, not ${partitions}.`,
    StreamRegistry__MetadataTooLong: (args) => metadataTooLong(args),
    StreamRegistry__TooManyTrackers: ({ count, maxCount }) =>
      `A stream has at most ${maxCount} trackers of its own, not ${count}.`,
    StreamRegistry__InvalidTracker: ({ tracker }) => `${tracker} cannot be a tracker.`,
    StreamRegistry__DuplicateTracker: ({ tracker }) => `The tracker ${tracker} is listed twice.`,
    StreamRegistry__InvalidUser: ({ user }) =>
      `${user} cannot be given permissions: set what everybody may do with setPublicPermissions.`,
    StreamRegistry__OwnerProtected: ({ owner }) =>
      `${owner} owns the stream: nobody else can revoke its permissions.`,
    StreamRegistry__ExpiryInPast: ({ expiry, blockTimestamp }) =>
      `The permission would expire at ${expiry}, but the chain's time is already ${blockTimestamp} (Unix seconds).`,
    StreamRegistry__ExpiryNotSupported: ({ permission }) =>
      `The ${nameOf(permission)} permission does not expire: grant it with the expiry FOREVER.`,
    Delegations__TimeInFuture: ({ begunByMs }) =>
      `Delegations that begin as late as ${dateOf(begunByMs)} cannot be revoked yet: check this machine's clock.`,
    CheckpointUnorderedInsertion: () =>
      'The stream registry failed to keep a time: please report this as a bug.',
    StringsInsufficientHexLength: () =>
      'The stream registry failed to write an address: please report this as a bug.',

    StorageRegistry__InvalidStreamRegistry: ({ streamRegistry }) =>
      `There is no stream registry at ${streamRegistry}: deploy it first.`,
    StorageRegistry__AlreadyRegistered: ({ node }) => `${node} is already a storage node: update it instead.`,
    StorageRegistry__NotRegistered: ({ node }) => `${node} is not a registered storage node.`,
    StorageRegistry__InvalidUrl: (args) => invalidUrl(args),
    StorageRegistry__MetadataTooLong: (args) => metadataTooLong(args),
    StorageRegistry__StreamNotFound: ({ streamId }) => `There is no stream ${quote(streamId)}.`,
    StorageRegistry__NotPermitted: ({ user }) => `${user} needs the edit permission on the stream.`,
    StorageRegistry__AlreadyAssigned: ({ node }) => `The storage node ${node} already keeps the stream.`,
    StorageRegistry__NotAssigned: ({ node }) => `The storage node ${node} does not keep the stream.`,
    StorageRegistry__TooManyNodes: ({ maxCount }) => `A stream has at most ${maxCount} storage nodes.`,
  }

function invalidUrl({ lengthBytes, maxBytes }: { lengthBytes: bigint; maxBytes: bigint }): string {
  return `A URL has 1 to ${maxBytes} bytes, not ${lengthBytes}.`
}

function metadataTooLong({ lengthBytes, maxBytes }: { lengthBytes: bigint; maxBytes: bigint }): string {
  return `Metadata has at most ${maxBytes} bytes, not ${lengthBytes}.`
}

function dateOf(ms: bigint): string {
  return new Date(Number(ms)).toISOString()
}

function nameOf(permission: bigint): string {
  return permissionName(permission) ?? `unknown (${permission})`
}

/** The text may be anybody's: control characters must not reach a terminal. */
function quote(text: string): string {
  return JSON.stringify(text)
}
