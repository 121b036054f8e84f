import { errorFactory, RunnelError, type ErrorTable } from '@runnel/protocol'

/** Error codes of `@runnel/client`. */
export const clientErrors = {
  INVALID_CONFIG: {
    summary: 'The configuration has a mistake',
    remedy: 'Correct what the message names; every setting is documented at ClientConfig.',
  },
  CONTENT_MISMATCH: {
    summary: 'The content of a message does not fit the schema',
    remedy: 'Ask its publisher to send what the schema allows, or allow more in the schema.',
  },
  INVALID_ARGUMENT: {
    summary: 'An argument is not valid',
    remedy: 'Correct what the message names.',
  },
  CLIENT_CLOSED: {
    summary: 'The client is closed',
    remedy: 'Create another client: a closed one does not come back.',
  },
  ABORTED: { summary: 'Aborted by the caller', remedy: 'Nothing to do: the caller asked for it.' },

  NOT_IN_PAGES: {
    summary: 'A page has no files',
    remedy:
      'Keep a key with storedKey; give the document of a network, a delegation or a reading key itself: fetch it, or build it in.',
  },
  ONLY_IN_PAGES: {
    summary: 'There is no browser that keeps something',
    remedy:
      'Keep a key in a file, with readKeyFile and writeKeyFile; keep sessions with memoryStore, or a SessionStore of your own.',
  },
  NETWORK_FILE_MISSING: {
    summary: 'There is no network file',
    remedy: 'Start a local network, which writes one, with: runnel up. Or give the path of the file you got.',
  },
  NETWORK_FILE_UNREADABLE: {
    summary: 'The network file could not be read',
    remedy: 'Check that it is a file and that you may read it.',
  },
  NETWORK_FILE_INVALID: {
    summary: 'The network file has a mistake',
    remedy: 'Correct what the message names; docs/operating.md has examples of network files.',
  },
  KEY_FILE_MISSING: {
    summary: 'There is no key file',
    remedy: 'Check the path, which starts in the current folder; runnel key new makes a new key.',
  },
  KEY_FILE_UNREADABLE: {
    summary: 'The key file could not be read',
    remedy: 'Check that it is a file and that you own it.',
  },
  KEY_FILE_TOO_OPEN: {
    summary: 'Other users can read the key file',
    remedy: 'Protect it with chmod 600, and make a new key if others had access.',
  },
  KEY_FILE_EXISTS: {
    summary: 'The key file exists already',
    remedy: 'Choose another path: a key is never overwritten.',
  },
  KEY_FILE_UNWRITABLE: {
    summary: 'The key file could not be written',
    remedy: 'Check that its directory exists, that you may write there, and that the disk has space left.',
  },
  DELEGATION_FILE_MISSING: {
    summary: 'There is no delegation file',
    remedy: 'Check the path; the user makes one with: runnel key delegate --out FILE.',
  },
  DELEGATION_FILE_UNREADABLE: {
    summary: 'The delegation file could not be read',
    remedy: 'Check that it is a file and that you own it.',
  },
  DELEGATION_FILE_TOO_OPEN: {
    summary: 'Other users can read the delegation file',
    remedy:
      'Protect it with chmod 600; if others had access, take the delegation back with runnel key revoke, and make another.',
  },
  DELEGATION_FILE_EXISTS: {
    summary: 'The delegation file exists already',
    remedy: 'Choose another path: a delegation file is never overwritten.',
  },
  DELEGATION_FILE_UNWRITABLE: {
    summary: 'The delegation file could not be written',
    remedy: 'Check that its directory exists, that you may write there, and that the disk has space left.',
  },
  DELEGATION_FILE_INVALID: {
    summary: 'The delegation file has a mistake',
    remedy:
      'It is JSON: version 1, privateKey, delegation. Make another with runnel key delegate; a wallet’s keystore is made a key file with: runnel key import.',
  },
  TOKEN_FILE_MISSING: {
    summary: 'There is no token file',
    remedy: 'Check the path.',
  },
  TOKEN_FILE_UNREADABLE: {
    summary: 'The token file could not be read',
    remedy: 'Check that it is a file and that you own it.',
  },
  TOKEN_FILE_TOO_OPEN: {
    summary: 'Other users can read the token file',
    remedy: 'Protect it with chmod 600; if others had access, have what takes the token take another.',
  },
  TOKEN_FILE_INVALID: {
    summary: 'The token file has a mistake',
    remedy: 'It is one line of printable ASCII without spaces: the token, and nothing else.',
  },

  READING_KEY_FILE_MISSING: {
    summary: 'There is no reading key file',
    remedy: 'Check the path; the user makes one with: runnel reading-key export FILE.',
  },
  READING_KEY_FILE_UNREADABLE: {
    summary: 'The reading key file could not be read',
    remedy: 'Check that it is a file and that you own it.',
  },
  READING_KEY_FILE_TOO_OPEN: {
    summary: 'Other users can read the reading key file',
    remedy: 'Protect it with chmod 600; if others had access, renew the key with runnel reading-key rotate.',
  },
  READING_KEY_FILE_EXISTS: {
    summary: 'The reading key file exists already',
    remedy: 'Choose another path: a reading key file is never overwritten.',
  },
  READING_KEY_FILE_UNWRITABLE: {
    summary: 'The reading key file could not be written',
    remedy: 'Check that its directory exists, that you may write there, and that the disk has space left.',
  },
  READING_KEY_FILE_INVALID: {
    summary: 'The reading key file has a mistake',
    remedy:
      'It is JSON: version 1, userId, generation, secret, and mostly card. Make another with: runnel reading-key export.',
  },
  NO_READING_KEY: {
    summary: 'This process has no key for what is encrypted',
    remedy:
      'Give it one with --reading-key FILE, or readingKey of ClientConfig. Where the user’s key is, make the file with: runnel reading-key export FILE; for a contract account with: runnel reading-key new FILE.',
  },
  READING_KEY_CHANGED: {
    summary: 'The signer gives another reading key than before',
    remedy:
      'If it signs differently each time, keep a reading key: make one with runnel reading-key new FILE, and give it as readingKey. Else use the signer, or the file, with which the user’s card was made: nothing else opens what was encrypted for that card.',
  },
  READING_KEY_OTHER_GENERATION: {
    summary: 'The reading key that is kept is of another generation',
    remedy:
      'It was renewed: export the new one where the user’s key is, with runnel reading-key export FILE --generation N.',
  },
  READING_KEY_NOT_YOURS: {
    summary: 'The reading key is of another user',
    remedy: 'Give the one of the user in whose name this process acts.',
  },
  CARD_NEEDS_USER: {
    summary: 'Only the user itself can sign its card',
    remedy:
      'Give this process a reading key file with a card in it, as runnel reading-key export writes; or start a client with the user’s signer and that reading key once.',
  },

  NO_WALLET: {
    summary: 'There is no Ethereum wallet',
    remedy: 'Install one that gives pages a provider (EIP-1193), or use a key without a wallet.',
  },
  WALLET_REFUSED: {
    summary: 'The wallet’s user refused',
    remedy: 'Nothing was signed or sent: ask again when the user is ready.',
  },
  WALLET_FAILED: {
    summary: 'The wallet failed',
    remedy: 'Read the message; check that the wallet is unlocked and has an account.',
  },
  SIGNER_REFUSED: {
    summary: 'The signer refused',
    remedy: 'Nothing was signed: have its owner allow it, or check the token, and ask again.',
  },
  SIGNER_FAILED: {
    summary: 'The signer failed',
    remedy:
      'Read the message; check that the signer has the account’s key and is in the mode for Ethereum accounts.',
  },
  SIGNER_UNREACHABLE: {
    summary: 'The signer does not answer',
    remedy: 'Check its URL, and that it runs. A delegation that is there stays in use until it ends.',
  },
  SIGNER_OTHER_CHAIN: {
    summary: 'The signer is on another chain than the network',
    remedy:
      'Choose the chain that the message names, in the wallet or in the signer’s settings, and ask again.',
  },
  SIGNER_OTHER_ACCOUNT: {
    summary: 'Another account signed than was asked',
    remedy: 'Choose the account that the message names, and ask again.',
  },
  STORAGE_BLOCKED: {
    summary: 'The browser does not let this page store data',
    remedy: 'Allow it, over https or on localhost; or leave the key out and get a new identity each time.',
  },

  NETWORK_DOCUMENT_UNREACHABLE: {
    summary: 'The network’s document cannot be read',
    remedy: 'Check the URL or the file; what is known stays in use.',
  },
  NETWORK_DOCUMENT_INVALID: {
    summary: 'The network’s document has a mistake',
    remedy: 'Write it with runnel network update, not by hand: it is signed.',
  },
  NETWORK_DOCUMENT_NOT_OWNERS: {
    summary: 'The network’s document is not signed by its owner',
    remedy: 'Check the owner’s address, and the key. Others’ documents are not taken.',
  },
  NETWORK_DOCUMENT_OLDER: {
    summary: 'The network’s document is older than the known one',
    remedy: 'Have its server give the newest. Older ones are not taken; the owner goes on from the newest.',
  },
  CHAIN_UNREACHABLE: {
    summary: 'The chain does not answer',
    remedy: 'Check the RPC URL and the network; known data stays in use.',
  },
  CHAIN_DISPUTED: {
    summary: 'The endpoints of the chain do not agree',
    remedy:
      'Known data stays in use. Find out which one is wrong, and take its URL out of rpcUrl; runnel doctor says how each does.',
  },
  CHAIN_MISMATCH: {
    summary: 'The RPC URL serves another chain than configured',
    remedy: 'Correct the RPC URL or the chain id.',
  },
  CHAIN_CALL_FAILED: {
    summary: 'The chain refused a call',
    remedy: 'Read the message; check the registry addresses and that the RPC endpoint is a full one.',
  },
  ACCOUNT_BUSY: {
    summary: 'Other processes send transactions with the same account all the time',
    remedy: 'Nothing was changed: try again later, or give each process an account of its own.',
  },
  REGISTRY_MISSING: {
    summary: 'There is no registry at the configured address',
    remedy: 'Check the registry addresses and the chain; a new chain needs: runnel registry deploy.',
  },
  TOO_MANY_LOOKUPS: {
    summary: 'Too many registry look-ups at once',
    remedy: 'A peer sends under many keys, or the chain is slow; look-ups continue as others finish.',
  },
  REGISTRY_REFUSED: {
    summary: 'The registry refused the change',
    remedy: 'Do what the message says and try again; nothing was changed.',
  },
  REGISTRY_OUTDATED: {
    summary: 'The registry is of an earlier version, which cannot do this',
    remedy: 'Let delegations run out, or deploy the registries of this version and move to them.',
  },
  CONTRACT_NEEDS_CHAIN: {
    summary: 'What a contract account signed cannot be checked without a chain',
    remedy: 'Use a network whose registries are on a chain, or an account that has a key.',
  },
  REGISTRY_READ_ONLY: {
    summary: 'The network’s document cannot be changed by this',
    remedy: 'Its owner changes it: with runnel network update where it is signed, else in the file.',
  },
  INSUFFICIENT_FUNDS: {
    summary: 'The account cannot pay for the transaction',
    remedy: 'Send it some of the chain’s currency.',
  },
  TRANSACTION_UNCONFIRMED: {
    summary: 'The transaction was sent but not mined within the time limit',
    remedy: 'Look it up by its hash before trying again: it may still be mined.',
  },
  TRANSACTION_FAILED: {
    summary: 'The transaction was mined but had no effect',
    remedy: 'Something changed between trying and mining it: try again.',
  },

  STREAM_NOT_FOUND: {
    summary: 'There is no such stream',
    remedy: 'Check the id; create it with: runnel stream create, or client.createStream().',
  },
  STREAM_EXISTS: {
    summary: 'The stream exists already',
    remedy: 'Use it, or choose another path.',
  },
  NOT_STREAM_OWNER: {
    summary: 'A stream can be created under one’s own address only',
    remedy: 'Give a path, or an id that begins with the address of the client’s key.',
  },
  BATCH_FORGED: {
    summary: 'The batch is not signed by its publisher',
    remedy: 'Sign it with the publisher’s key, or send the delegation that it is signed under with it.',
  },
  NO_PUBLISH_PERMISSION: {
    summary: 'No permission to publish',
    remedy: 'Ask someone with the grant permission on the stream to grant it.',
  },
  NO_SUBSCRIBE_PERMISSION: {
    summary: 'No permission to subscribe',
    remedy: 'Ask someone with the grant permission on the stream to grant it.',
  },
  STREAM_NOT_JOINED: {
    summary: 'This client is in no partition of the stream',
    remedy: 'Subscribe or publish to the stream first: trackers tell only who is in it how many are.',
  },
  PARTITION_OUT_OF_RANGE: {
    summary: 'The stream has no such partition',
    remedy: 'Partitions count from 0 and end below the partition count of the stream.',
  },

  INVALID_RESEND: {
    summary: 'Not a selection of stored messages',
    remedy:
      'Give { last: n }, or { from, to } with dates, Unix milliseconds or places of messages, from before to.',
  },
  NO_STORAGE_NODE: {
    summary: 'No storage node keeps the stream',
    remedy:
      'Assign one with: runnel storage add, or client.addToStorageNode(). It keeps what is published from then on.',
  },
  READER_GROUP_FULL: {
    summary: 'The group of the reader has no room for another member',
    remedy:
      'End one of its processes, or read with another name; what a member does may be spread over threads.',
  },
  RESEND_FAILED: {
    summary: 'No storage node could send everything requested',
    remedy: 'Read the message for what each answered; resend from the last message received.',
  },
  RESEND_DENIED: {
    summary: 'The storage nodes refuse to send the stream to this user',
    remedy:
      'Ask someone with the grant permission on the stream to grant subscribe; a grant takes a moment to reach them. If it was granted long ago, check the clock of this machine: minutes count.',
  },
  RESEND_REFUSED: {
    summary: 'A storage node cannot answer',
    remedy: 'Read the message for its reason; other storage nodes of the stream are asked instead.',
  },
  RESEND_TIMEOUT: {
    summary: 'A storage node does not answer',
    remedy: 'Check that it runs and is not overloaded; other storage nodes of the stream are asked instead.',
  },
  RESEND_TOO_SLOW: {
    summary: 'A storage node is slower than the others',
    remedy: 'Check that it is not overloaded; it stays on standby and is asked for messages the others lack.',
  },
  RESEND_LINK_LOST: {
    summary: 'The link to a storage node cannot be opened, or broke too often',
    remedy: 'Check that it runs and can be reached; other storage nodes of the stream are asked instead.',
  },
  RESEND_INVALID_ANSWER: {
    summary: 'A storage node sent data that does not belong in its answer',
    remedy: 'It is broken or hostile, and nothing it sent after that is used: remove it from the stream.',
  },
  RESEND_INCOMPLETE: {
    summary: 'A storage node sent less than it had announced',
    remedy:
      'It is broken or was deleting messages at that moment: check it; other storage nodes are asked instead.',
  },
  STORAGE_SILENT: {
    summary: 'A storage node did not answer',
    remedy: 'Nothing to do when others answer; otherwise check that it runs and can be reached.',
  },
  CARD_NOT_KEPT: {
    summary: 'No storage node has taken the card',
    remedy: 'Try again when one can be reached; its message says why each did not.',
  },
  CARDS_UNAVAILABLE: {
    summary: 'No storage node that may have the cards answered',
    remedy: 'Try again when one of them can be reached: those of the stream, or of the storage registry.',
  },
  NOT_STORED_IN_TIME: {
    summary: 'Not enough storage nodes have confirmed the message in time',
    remedy: 'It may still be stored: wait again, or check the storage nodes of the stream.',
  },

  TOO_MANY_STREAMS: {
    summary: 'More streams begin with a prefix than its subscription takes',
    remedy:
      'Raise maxStreams, or subscribe to longer prefixes. The newest streams are left out until others are deleted or may not be read any more.',
  },
  INVALID_HEADERS: {
    summary: 'The headers of a message are not what they should be',
    remedy:
      'Give at most 32 headers: text of up to 1,024 bytes, by names of 1 to 64 printable ASCII characters. Of a message that came, tell its publisher.',
  },
  INVALID_MESSAGE_KEY: {
    summary: 'The key of a message is not what it should be',
    remedy: 'Give text of 1 to 256 bytes of UTF-8.',
  },
  MESSAGE_KEY_MISMATCH: {
    summary: 'The key of a message is not the one that it is kept under',
    remedy: 'Tell its publisher: its software puts another key into the content than beside it.',
  },
  INVALID_CONTENT: {
    summary: 'The content cannot be sent',
    remedy: 'Give a Uint8Array, a string, or a value JSON can express.',
  },
  MESSAGE_TOO_LARGE: {
    summary: 'The content is too large for a message',
    remedy: 'Send at most 1 MiB in a message: split it, or publish a link to it.',
  },
  TIMESTAMP_OUT_OF_ORDER: {
    summary: 'The timestamp is earlier than that of a message already published',
    remedy: 'Publish in order of time, or leave the timestamp out.',
  },
  TIMESTAMP_OUT_OF_BOUNDS: {
    summary: 'Receivers would refuse the timestamp',
    remedy:
      'Give whole milliseconds since 1970, at most five minutes ahead of the clock and at most half of maxLiveAgeMs (five minutes) behind it; put older times into the content.',
  },
  NO_USER_KEY: {
    summary: 'Only the user itself can change the registries, and its key is elsewhere',
    remedy: 'Use a client with the privateKey of the user, a signer or a wallet.',
  },
  PUBLISH_QUEUE_FULL: {
    summary: 'Messages are published faster than they can be sent',
    remedy: 'Await publish() before the next, or raise publish.maxQueuedMessages and publish.maxQueuedBytes.',
  },

  INVALID_JSON_CONTENT: {
    summary: 'A message marked as JSON is not JSON',
    remedy: 'Its publisher is at fault; subscribe with raw: true to see the bytes.',
  },
  INVALID_TEXT_CONTENT: {
    summary: 'A message marked as text is not UTF-8',
    remedy: 'Its publisher is at fault; subscribe with raw: true to see the bytes.',
  },
  CONTENT_UNREADABLE: {
    summary: 'The sealed content of a message could not be opened',
    remedy: 'Its publisher or the content step is at fault; subscribe with raw: true to see the bytes.',
  },
  CONTENT_NOT_SEALED: {
    summary: 'A content step failed, and the message was not sent',
    remedy: 'See the cause; publish the message again once that is fixed.',
  },
  KEY_NOT_FOUND: {
    summary: 'The key of an encrypted message was not found',
    remedy:
      'Have the publisher, the stream’s key holder or another reader run for a moment: who has the key gives it to whoever may read. Or have the subscribe permission granted again, by somebody who can read: that stores the keys for the card of this user.',
  },
  CONTENT_NOT_AUTHENTIC: {
    summary: 'Encrypted content does not open with its key',
    remedy: 'Nothing to do here: its publisher sealed it wrongly, or two keys have one name.',
  },
  NOT_KEY_HOLDER: {
    summary: 'Another user holds the keys of the stream',
    remedy:
      'Do it in the name of the key holder: encryption.keyHolder in the metadata of the stream, which runnel stream show prints.',
  },
  NOT_ENCRYPTED: {
    summary: 'The stream is not encrypted',
    remedy:
      'Take the subscribe permission from the public, or make a stream with encryption.content always; see runnel stream show.',
  },
  REQUEST_TIMEOUT: {
    summary: 'Nobody replied in time',
    remedy:
      'See that a responder runs and may subscribe, with runnel respond or client.respond(); or wait longer with timeoutMs.',
  },
  NO_RESPONDER: {
    summary: 'Nobody else is in the stream',
    remedy: 'Start a responder, with runnel respond or client.respond(), and ask again.',
  },
  REQUEST_FAILED: {
    summary: 'The responder failed',
    remedy: 'The message says what its handler threw: correct the request, or the responder.',
  },
  REPLY_UNREADABLE: {
    summary: 'A reply cannot be read',
    remedy: 'Its responder is at fault, or the schema is: ask with raw: true to see the bytes.',
  },
  TOO_MANY_REQUESTS: {
    summary: 'Too many requests wait for replies',
    remedy: 'At most 1,000 of one client may: wait for some of them, or give them less time.',
  },
  PRESENCE_NOT_ENCRYPTED: {
    summary: 'What a member says of itself is in the clear, and the stream is encrypted',
    remedy: 'Enter without data, and publish what others should know as a message of the stream.',
  },
  CARD_OF_OTHER_USER: {
    summary: 'The card is of another user',
    remedy: 'Give the card of the user who gets the permission: runnel reading-key card prints it.',
  },
  KEYS_UNCERTAIN: {
    summary: 'Nothing can be encrypted, as the registry does not say who may read',
    remedy:
      'Try again when the chain answers. To publish meanwhile with the last key, set encryption.onOutage of the stream to continue.',
  },
  ENCRYPTED_CONTENT: {
    summary: 'The message is encrypted',
    remedy: 'This build cannot decrypt; subscribe with raw: true to see the bytes.',
  },
} as const satisfies ErrorTable

export type ClientErrorCode = keyof typeof clientErrors
export const clientError = errorFactory(clientErrors)

/** A client error whose remedy names the very command to run. */
export function clientErrorWithRemedy(code: ClientErrorCode, detail: string, remedy: string): RunnelError {
  return new RunnelError(code, `${clientErrors[code].summary}: ${detail}`, remedy)
}

/** The refusal of a stream that does not exist. */
export const streamNotFound = (streamId: string) => clientError('STREAM_NOT_FOUND', streamId)

/** One line about anything thrown; of an ethers error its short message, as the full one repeats the request. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('shortMessage' in error) return String(error.shortMessage)
  return error.message || String('code' in error ? error.code : error.name)
}

/** The thrown value as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
