import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Errors a storage node answers with instead of messages; requesters over a link see the same codes. */
export const refusals = {
  UNKNOWN_STREAM: {
    summary: 'There is no such stream or partition',
    remedy: 'Check the id: runnel stream show STREAM.',
  },
  NOT_PERMITTED: {
    summary: 'Not permitted to read the stream',
    remedy: 'Ask someone with the grant permission on the stream to grant subscribe.',
  },
  TOKEN_INVALID: {
    summary: 'The access token is not valid here',
    remedy:
      'Make a new one: a token names its user, the requesting node and this node, and it expires. Check the clocks of both machines.',
  },
  TOO_MANY_REQUESTS: {
    summary: 'The storage node is serving as many requests as it can',
    remedy: 'Wait for one to end, or ask another storage node of the stream.',
  },
  STORE_FAILED: {
    summary: 'The storage node cannot read its store',
    remedy: 'Ask another storage node of the stream. The log of this one says how to repair it.',
  },
  REPAIR_GIVEN_UP: {
    summary: 'Another storage node is slow, or sends too much that must not be stored',
    remedy: 'Nothing to do: it is asked for the rest in the next round.',
  },
  SHUTTING_DOWN: {
    summary: 'The storage node is stopping',
    remedy: 'Ask another storage node of the stream, or try again later.',
  },
  NOT_STORED: {
    summary: 'The storage node does not have the stream',
    remedy: 'Check that the stream is assigned to this storage node: runnel storage list STREAM.',
  },
  NOT_ACCEPTED: {
    summary: 'The stream is assigned to the storage node, but the node does not store it',
    remedy:
      'Its operator does not accept streams of this owner, or the owner has used up its share: see runnel storage usage on that machine. Assign another storage node.',
  },
  CARDS_FULL: {
    summary:
      'The storage node has no room for more cards: all of its cards are of users that read its streams',
    remedy: 'Put the card on other storage nodes. Its operator can start another storage node.',
  },
  TOO_COSTLY: {
    summary: 'Too many batches of one message chain overlap to be searched',
    remedy: 'Publish with clocks that do not go back: then the batches of a message chain do not overlap.',
  },
  IDLE: {
    summary: 'The requester read nothing for too long',
    remedy: 'Ask again from the last message received.',
  },
} as const satisfies ErrorTable

/** What can be wrong with a message store. */
const storeErrors = {
  SQLITE_MISSING: {
    summary: 'SQLite is not installed for this platform',
    remedy:
      'Remove node_modules and run npm install on this machine, or keep messages in Cassandra. docs/installing.md says what each platform supports.',
  },
  STORE_UNAVAILABLE: {
    summary: 'The message store cannot be reached',
    remedy:
      'Check the directory of the file and its permissions. For Cassandra, check that the cluster is running and that its addresses and credentials are correct.',
  },
  STORE_FULL: {
    summary: 'There is no space left for the message store',
    remedy:
      'Free some space, or shorten the retention. Storing then resumes by itself, and missed messages are copied from other storage nodes.',
  },
  STORE_READ_ONLY: {
    summary: 'The message store cannot be written to',
    remedy:
      'Give the node permission to write the file and its directory, and mount the file system writable.',
  },
  STORE_CORRUPT: {
    summary: 'The message store is damaged',
    remedy:
      'Stop the node, move the file and its -wal and -shm files away, and start the node again: messages are copied back from other storage nodes. Or restore a backup.',
  },
  STORE_VERSION: {
    summary: 'The message store was written by another version',
    remedy: 'Update Runnel, or give this node another directory.',
  },
  STORE_OVERLOADED: {
    summary: 'Too many batches are waiting for the message store',
    remedy: 'Ask again later. If it lasts, the disk is too slow for the streams assigned to this node.',
  },
  NO_SINGLE_FILE: {
    summary: 'This message store is not a single file',
    remedy: 'Use the backup tools of Cassandra, or: runnel storage export.',
  },
  FILE_EXISTS: {
    summary: 'A file of that name already exists',
    remedy: 'Give another name, or move the file away.',
  },
  BATCH_NOT_GENUINE: {
    summary: 'A batch was signed neither by its publisher nor on its behalf',
    remedy: 'It is left out. Whoever made the file changed it, or the file was damaged.',
  },
  EXPORT_INVALID: {
    summary: 'This is not an export of a message store',
    remedy: 'Give the output of runnel storage export, or a file made by runnel storage backup.',
  },
  STORE_CURSOR_INVALID: {
    summary: 'The cursor is not valid',
    remedy: 'Give the cursor of the previous page unchanged, or none to start from the beginning.',
  },
} as const satisfies ErrorTable

/** What the broker has the same codes for. */
const commonErrors = {
  CONFIG_INVALID: { summary: 'The configuration is invalid', remedy: 'Correct the named setting.' },
  FILE_UNREADABLE: { summary: 'A file cannot be read', remedy: 'Check the path and its permissions.' },
  INTERNAL: {
    summary: 'An unexpected error',
    remedy: 'Run again with --log-level debug for the details, and please report it.',
  },
} as const satisfies ErrorTable

/** Error codes of `@runnel/storage`. */
export const storageErrors = { ...refusals, ...storeErrors, ...commonErrors } as const

export type StorageErrorCode = keyof typeof storageErrors
export const storageError = errorFactory(storageErrors)
