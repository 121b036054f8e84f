import type { ErrorTable } from '@runnel/protocol'

/** What a storage node answers instead of messages; those who ask over a link see the same codes. */
export const storageErrors = {
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
