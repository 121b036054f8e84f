import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Errors a storage node answers with instead of messages; requesters over a link see the same codes. */
export const refusals = {
  UNKNOWN_STREAM: {
    summary: 'There is no such stream, or no such partition of it',
    remedy: 'Check the id: runnel stream show STREAM.',
  },
  NOT_PERMITTED: {
    summary: 'Not permitted to read the stream',
    remedy: 'Ask someone with the grant permission on the stream to grant subscribe.',
  },
  TOKEN_INVALID: {
    summary: 'The access token is not valid here',
    remedy:
      'Make a new one: it names its user, who asks and whom, and expires. Check the clocks of both machines.',
  },
  TOO_MANY_REQUESTS: {
    summary: 'The storage node serves as many requests as it may',
    remedy: 'Wait for one to end, or ask another storage node of the stream.',
  },
  STORE_FAILED: {
    summary: 'The storage node cannot read its store',
    remedy: 'Ask another storage node of the stream; the log of this one says what to do.',
  },
  REPAIR_GIVEN_UP: {
    summary: 'Another storage node is slow, or sends much that may not be stored',
    remedy: 'Nothing need be done: it is asked for the rest with the next round.',
  },
  SHUTTING_DOWN: {
    summary: 'The storage node is being stopped',
    remedy: 'Ask another storage node of the stream, or later.',
  },
  NOT_STORED: {
    summary: 'The storage node does not have it',
    remedy: 'Check with: runnel storage list STREAM, that the stream is assigned to this storage node.',
  },
  NOT_ACCEPTED: {
    summary: 'The storage node was asked to keep the stream, and does not',
    remedy:
      "Its operator does not want the owner's streams, or the owner has its share there: see runnel storage usage on that machine. Assign another storage node.",
  },
  TOO_COSTLY: {
    summary: 'Too many batches of one message chain overlap there to search them',
    remedy: 'Publish with clocks that go forward: then the batches of a message chain do not overlap.',
  },
  IDLE: {
    summary: 'The asker took nothing for too long',
    remedy: 'Ask again from the last message received.',
  },
} as const satisfies ErrorTable

/** What can be wrong with a message store. */
const storeErrors = {
  STORE_UNAVAILABLE: {
    summary: 'The message store cannot be reached',
    remedy:
      'Check the directory of the file and its permissions, or that the cluster runs and its addresses and credentials are right.',
  },
  STORE_FULL: {
    summary: 'There is no space left for the message store',
    remedy:
      'Free some space, or shorten the retention; storing goes on by itself, and what was missed is repaired from other storage nodes.',
  },
  STORE_READ_ONLY: {
    summary: 'The message store cannot be written to',
    remedy:
      'Give the node permission to write the file and its directory, and mount the file system writable.',
  },
  STORE_CORRUPT: {
    summary: 'The message store is damaged',
    remedy:
      'Stop the node, move the file and its -wal and -shm away, and start again: what other storage nodes keep is repaired from them. Or put a copy in its place.',
  },
  STORE_VERSION: {
    summary: 'The message store was written by a newer version',
    remedy: 'Update Runnel, or give this node another directory.',
  },
  STORE_OVERLOADED: {
    summary: 'Too much waits for the message store',
    remedy: 'Ask again later; when it lasts, the disk is too slow for the streams assigned to this node.',
  },
  STORE_CURSOR_INVALID: {
    summary: 'Not the cursor of a page',
    remedy: 'Give the cursor of the page before as it came, or none to begin anew.',
  },
} as const satisfies ErrorTable

/** What the broker has the same codes for. */
const commonErrors = {
  CONFIG_INVALID: { summary: 'The configuration is wrong', remedy: 'Correct the setting named.' },
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
