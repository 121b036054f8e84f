import { errorFactory, RunnelError, type ErrorTable } from '@runnel/protocol'

/** Error codes of `@runnel/client`. */
export const clientErrors = {
  INVALID_CONFIG: {
    summary: 'The configuration is invalid',
    remedy: 'Correct what the message names. ClientConfig documents every setting.',
  },
  NODE_TOO_OLD: {
    summary: 'This Node is too old',
    remedy: 'Install Node 22.13 or newer.',
  },
  CONTENT_MISMATCH: {
    summary: 'The content of a message does not match the schema',
    remedy: 'Ask its publisher to send what the schema allows, or relax the schema.',
  },
  INVALID_ARGUMENT: {
    summary: 'An argument is not valid',
    remedy: 'Correct what the message names.',
  },
  CLIENT_CLOSED: {
    summary: 'The client is closed',
    remedy: 'Create another client: a closed one cannot be reopened.',
  },
  ABORTED: { summary: 'Aborted by the caller', remedy: 'Nothing to do: the caller asked for it.' },

  NOT_IN_PAGES: {
    summary: 'A web page cannot read or write files',
    remedy:
      'Keep a key with storedKey. Pass a network document, a delegation or a reading key itself: fetch it, or build it in.',
  },
  ONLY_IN_PAGES: {
    summary: 'This needs the storage of a browser',
    remedy:
      'Keep a key in a file, with readKeyFile and writeKeyFile. Keep sessions with memoryStore, or a SessionStore of your own.',
  },
  NETWORK_FILE_MISSING: {
    summary: 'There is no network file',
    remedy:
      'Start a local network, which writes one, with: runnel up. Or give the path of the file that you received.',
  },
  NETWORK_FILE_UNREADABLE: {
    summary: 'The network file could not be read',
    remedy: 'Check that it is a file and that you may read it.',
  },
  NETWORK_FILE_INVALID: {
    summary: 'The network file is invalid',
    remedy: 'Correct what the message names. docs/operating.md has examples of network files.',
  },
  KEY_FILE_MISSING: {
    summary: 'There is no key file',
    remedy:
      'Check the path, which is relative to the current folder. To make a new key, run: runnel key new.',
  },
  KEY_FILE_UNREADABLE: {
    summary: 'The key file could not be read',
    remedy: 'Check that it is a file and that you own it.',
  },
  KEY_FILE_TOO_OPEN: {
    summary: 'Other users can read the key file',
    remedy: 'Protect it with chmod 600. If others had access, make a new key.',
  },
  KEY_FILE_EXISTS: {
    summary: 'The key file already exists',
    remedy: 'Choose another path: a key is never overwritten.',
  },
  KEY_FILE_UNWRITABLE: {
    summary: 'The key file could not be written',
    remedy: 'Check that its directory exists, that you may write there, and that the disk has space left.',
  },
  DELEGATION_FILE_MISSING: {
    summary: 'There is no delegation file',
    remedy: 'Check the path. The user makes the file with: runnel key delegate --out FILE.',
  },
  DELEGATION_FILE_UNREADABLE: {
    summary: 'The delegation file could not be read',
    remedy: 'Check that it is a file and that you own it.',
  },
  DELEGATION_FILE_TOO_OPEN: {
    summary: 'Other users can read the delegation file',
    remedy:
      'Protect it with chmod 600. If others had access, revoke the delegation with runnel key revoke, and make another.',
  },
  DELEGATION_FILE_EXISTS: {
    summary: 'The delegation file already exists',
    remedy: 'Choose another path: a delegation file is never overwritten.',
  },
  DELEGATION_FILE_UNWRITABLE: {
    summary: 'The delegation file could not be written',
    remedy: 'Check that its directory exists, that you may write there, and that the disk has space left.',
  },
  DELEGATION_FILE_INVALID: {
    summary: 'The delegation file is invalid',
    remedy:
      'It is JSON with version 1, privateKey and delegation. Make another with: runnel key delegate. To turn the keystore of a wallet into a key file, use: runnel key import.',
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
    remedy: 'Protect it with chmod 600. If others had access, replace the token, also where it is checked.',
  },
  TOKEN_FILE_INVALID: {
    summary: 'The token file is invalid',
    remedy: 'It must be one line of printable ASCII without spaces: the token, and nothing else.',
  },

  READING_KEY_FILE_MISSING: {
    summary: 'There is no reading key file',
    remedy: 'Check the path. The user makes the file with: runnel reading-key export FILE.',
  },
  READING_KEY_FILE_UNREADABLE: {
    summary: 'The reading key file could not be read',
    remedy: 'Check that it is a file and that you own it.',
  },
  READING_KEY_FILE_TOO_OPEN: {
    summary: 'Other users can read the reading key file',
    remedy: 'Protect it with chmod 600. If others had access, renew the key with: runnel reading-key rotate.',
  },
  READING_KEY_FILE_EXISTS: {
    summary: 'The reading key file already exists',
    remedy: 'Choose another path: a reading key file is never overwritten.',
  },
  READING_KEY_FILE_UNWRITABLE: {
    summary: 'The reading key file could not be written',
    remedy: 'Check that its directory exists, that you may write there, and that the disk has space left.',
  },
  READING_KEY_FILE_INVALID: {
    summary: 'The reading key file is invalid',
    remedy:
      'It is JSON with version 1, userId, generation, secret and usually card. Make another with: runnel reading-key export.',
  },
  NO_READING_KEY: {
    summary: 'This process has no key for encrypted content',
    remedy:
      'Give it one with --reading-key FILE, or as readingKey in ClientConfig. Make the file where the user’s key is: runnel reading-key export FILE. For a contract account: runnel reading-key new FILE.',
  },
  READING_KEY_CHANGED: {
    summary: 'The signer gives another reading key than before',
    remedy:
      'If the signer signs differently each time, keep a reading key: make one with runnel reading-key new FILE, and give it as readingKey. Otherwise use the signer, or the file, that the user’s card was made with: nothing else opens what was encrypted for that card.',
  },
  READING_KEY_OTHER_GENERATION: {
    summary: 'The stored reading key is of another generation',
    remedy:
      'The key was renewed. Export the new one where the user’s key is: runnel reading-key export FILE --generation N.',
  },
  READING_KEY_NOT_YOURS: {
    summary: 'The reading key belongs to another user',
    remedy: 'Give the reading key of the user that this process acts for.',
  },
  CARD_NEEDS_USER: {
    summary: 'Only the user can sign its own card',
    remedy:
      'Give this process a reading key file that contains a card, as runnel reading-key export writes it. Or start a client once with the user’s signer and that reading key.',
  },

  NO_WALLET: {
    summary: 'No Ethereum wallet was found',
    remedy: 'Install one that gives pages a provider (EIP-1193), or use a key without a wallet.',
  },
  WALLET_REFUSED: {
    summary: 'The user of the wallet refused',
    remedy: 'Nothing was signed or sent. Ask again when the user is ready.',
  },
  WALLET_FAILED: {
    summary: 'The wallet failed',
    remedy: 'Read the message. Check that the wallet is unlocked and has an account.',
  },
  SIGNER_REFUSED: {
    summary: 'The signer refused',
    remedy: 'Nothing was signed. Ask its owner to allow it, or check the token, and try again.',
  },
  SIGNER_FAILED: {
    summary: 'The signer failed',
    remedy:
      'Read the message. Check that the signer has the account’s key and is in the mode for Ethereum accounts.',
  },
  SIGNER_UNREACHABLE: {
    summary: 'The signer does not answer',
    remedy: 'Check its URL, and that it is running. An existing delegation stays in use until it ends.',
  },
  SIGNER_OTHER_CHAIN: {
    summary: 'The signer and the network are on different chains',
    remedy:
      'In the wallet or in the signer’s settings, choose the chain that the message names. Then ask again.',
  },
  SIGNER_OTHER_ACCOUNT: {
    summary: 'A different account signed than the one that was asked',
    remedy: 'Choose the account that the message names, and ask again.',
  },
  STORAGE_BLOCKED: {
    summary: 'The browser does not let this page store data',
    remedy: 'Allow it, over https or on localhost. Or leave the key out and get a new identity each time.',
  },

  NETWORK_DOCUMENT_UNREACHABLE: {
    summary: 'The network’s document cannot be read',
    remedy: 'Check the URL or the file. The known document stays in use.',
  },
  NETWORK_DOCUMENT_INVALID: {
    summary: 'The network’s document is invalid',
    remedy: 'Write it with runnel network update, not by hand: it is signed.',
  },
  NETWORK_DOCUMENT_NOT_OWNERS: {
    summary: 'The network’s document is not signed by its owner',
    remedy: 'Check the owner’s address, and the key. Only documents of the owner are accepted.',
  },
  NETWORK_DOCUMENT_OLDER: {
    summary: 'The network’s document is older than the known one',
    remedy:
      'Have its server deliver the newest: older ones are not accepted. The owner must change the newest one.',
  },
  NETWORK_DOCUMENT_COPY_UNUSABLE: {
    summary: 'The kept copy of the network’s document cannot be used',
    remedy: 'Make it readable, or restore it. If it is deleted, older documents are no longer refused.',
  },
  CHAIN_UNREACHABLE: {
    summary: 'The chain does not answer',
    remedy:
      'Check the RPC URL and the network. If the chain is that of runnel up, start it again. Known data stays in use.',
  },
  CHAIN_DISPUTED: {
    summary: 'The endpoints of the chain disagree',
    remedy:
      'Known data stays in use. Find out which endpoint is wrong, and remove its URL from rpcUrl. runnel doctor checks each of them.',
  },
  CHAIN_MISMATCH: {
    summary: 'The RPC URL serves a different chain than configured',
    remedy: 'Correct the RPC URL or the chain id.',
  },
  CHAIN_CALL_FAILED: {
    summary: 'The chain refused a call',
    remedy: 'Read the message. Check the registry addresses, and that the RPC endpoint is a full one.',
  },
  ACCOUNT_BUSY: {
    summary: 'Other processes keep sending transactions from the same account',
    remedy: 'Nothing was changed. Try again later, or give each process its own account.',
  },
  REGISTRY_MISSING: {
    summary: 'There is no registry at the configured address',
    remedy: 'Check the registry addresses and the chain. On a new chain, first run: runnel registry deploy.',
  },
  TOO_MANY_LOOKUPS: {
    summary: 'Too many registry look-ups at once',
    remedy: 'A peer sends under many keys, or the chain is slow. Look-ups continue as others finish.',
  },
  REGISTRY_REFUSED: {
    summary: 'The registry refused the change',
    remedy: 'Nothing was changed. Do what the message says, and try again.',
  },
  REGISTRY_OUTDATED: {
    summary: 'The registry is of an earlier version, which does not support this',
    remedy: 'Let delegations expire, or deploy the registries of this version and move to them.',
  },
  CONTRACT_NEEDS_CHAIN: {
    summary: 'The signature of a contract account cannot be checked without a chain',
    remedy: 'Use a network whose registries are on a chain, or an account that has a key.',
  },
  REGISTRY_READ_ONLY: {
    summary: 'The network’s document cannot be changed this way',
    remedy: 'Its owner changes it: with runnel network update if it is signed, otherwise in the file.',
  },
  INSUFFICIENT_FUNDS: {
    summary: 'The account cannot pay for the transaction',
    remedy: 'Send it some of the chain’s currency; on a development chain, with: runnel chain fund.',
  },
  TRANSACTION_UNCONFIRMED: {
    summary: 'The transaction was sent but not mined within the time limit',
    remedy: 'Look it up by its hash before you try again: it may still be mined.',
  },
  TRANSACTION_FAILED: {
    summary: 'The transaction was mined but had no effect',
    remedy: 'Something changed before it was mined. Try again.',
  },

  STREAM_NOT_FOUND: {
    summary: 'There is no such stream',
    remedy: 'Check the id. Create the stream with: runnel stream create, or client.createStream().',
  },
  STREAM_EXISTS: {
    summary: 'The stream already exists',
    remedy: 'Use it, or choose another path.',
  },
  NOT_STREAM_OWNER: {
    summary: 'You can create streams under your own address only',
    remedy: 'Give a path, or an id that begins with the address of the client’s key.',
  },
  BATCH_FORGED: {
    summary: 'The batch is not signed by its publisher',
    remedy: 'Sign it with the publisher’s key, or send along the delegation that it is signed under.',
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
    summary: 'This client has not joined any partition of the stream',
    remedy: 'Subscribe or publish to the stream first: trackers tell the count only to those in it.',
  },
  PARTITION_OUT_OF_RANGE: {
    summary: 'The stream has no such partition',
    remedy: 'Partitions are numbered from 0 and stay below the partition count of the stream.',
  },

  INVALID_RESEND: {
    summary: 'Not a valid selection of stored messages',
    remedy:
      'Give { last: n }, or { from, to } with dates, Unix milliseconds or places of messages. from must not be after to.',
  },
  NO_STORAGE_NODE: {
    summary: 'No storage node keeps the stream',
    remedy:
      'Assign one with: runnel storage add, or client.addToStorageNode(). It keeps what is published from then on.',
  },
  RECORDING_UNREADABLE: {
    summary: 'Nobody could open the recording once those who are in the stream now are gone',
    remedy:
      'Assign a storage node to the recorded stream, with runnel storage add or client.addToStorageNode(), and record again some seconds later.',
  },
  READER_GROUP_FULL: {
    summary: 'The reader group has no room for another member',
    remedy:
      'Stop one of its processes, or read under another name. A member can spread its work over several threads.',
  },
  RESEND_FAILED: {
    summary: 'No storage node could send everything requested',
    remedy: 'The message says what each of them answered. Resend from the last message received.',
  },
  RESEND_DENIED: {
    summary: 'The storage nodes refuse to send the stream to this user',
    remedy:
      'Ask someone with the grant permission on the stream to grant subscribe. A grant takes a moment to reach the storage nodes. If it was granted long ago, check the clock of this machine: minutes count.',
  },
  RESEND_REFUSED: {
    summary: 'A storage node cannot answer',
    remedy: 'The message gives its reason. Other storage nodes of the stream are asked instead.',
  },
  RESEND_TIMEOUT: {
    summary: 'A storage node does not answer',
    remedy:
      'Check that it is running and not overloaded. Other storage nodes of the stream are asked instead.',
  },
  RESEND_TOO_SLOW: {
    summary: 'A storage node is slower than the others',
    remedy:
      'Check that it is not overloaded. It stays on standby, and is asked for messages that the others lack.',
  },
  TIMESTAMP_REFUSED: {
    summary: 'The timestamp of a message is too far from the clock of this machine',
    remedy:
      'Check the clock of this machine, and keep it synchronized. If it is right, the clock of the publisher, or of the neighbour that forwarded the message, is wrong.',
  },
  RESEND_LINK_LOST: {
    summary: 'The link to a storage node cannot be opened, or broke too often',
    remedy: 'Check that it is running and reachable. Other storage nodes of the stream are asked instead.',
  },
  RESEND_INVALID_ANSWER: {
    summary: 'A storage node sent data that does not belong in its answer',
    remedy:
      'It is broken or hostile, and nothing that it sent after that is used. Remove it from the stream.',
  },
  TABLE_TOO_LARGE: {
    summary: 'The table of a partition is larger than allowed',
    remedy:
      'Give a larger maxBytes if there is memory for it, or read single keys with last. Tables of streams with more partitions are smaller.',
  },
  RESEND_INCOMPLETE: {
    summary: 'A storage node sent less than it announced',
    remedy:
      'It is broken, or was deleting messages at that moment: check it. Other storage nodes are asked instead.',
  },
  STORAGE_SILENT: {
    summary: 'A storage node did not answer',
    remedy: 'Nothing to do if others answer. Otherwise check that it is running and reachable.',
  },
  CARD_NOT_KEPT: {
    summary: 'No storage node accepted the card',
    remedy: 'Try again when one can be reached. The message says why each of them did not.',
  },
  CARDS_UNAVAILABLE: {
    summary: 'None of the storage nodes that may have the cards answered',
    remedy:
      'Try again when one of them can be reached: those of the stream, or those of the storage registry.',
  },
  NOT_STORED_IN_TIME: {
    summary: 'Too few storage nodes confirmed the message in time',
    remedy: 'It may still be stored. Wait again, or check the storage nodes of the stream.',
  },

  TOO_MANY_STREAMS: {
    summary: 'More streams begin with a prefix than its subscription allows',
    remedy:
      'Raise maxStreams, or subscribe to longer prefixes. The newest streams are left out until others are deleted or can no longer be read.',
  },
  INVALID_HEADERS: {
    summary: 'The headers of a message are invalid',
    remedy:
      'Give at most 32 headers. A name has 1 to 64 printable ASCII characters, a value is text of up to 1,024 bytes. If you received the message, tell its publisher.',
  },
  INVALID_MESSAGE_KEY: {
    summary: 'The key of a message is invalid',
    remedy: 'Give text of 1 to 256 bytes of UTF-8.',
  },
  MESSAGE_KEY_MISMATCH: {
    summary: 'The key in a message is not the key that it is stored under',
    remedy: 'Tell its publisher: its software puts one key into the content and another beside it.',
  },
  INVALID_CONTENT: {
    summary: 'The content cannot be sent',
    remedy:
      'Give a Uint8Array, a string, or a value that JSON can express: no NaN, Infinity, Map, Set, BigInt or function, at any depth.',
  },
  MESSAGE_TOO_LARGE: {
    summary: 'The content is too large for a message',
    remedy:
      'Send at most 1 MiB in a message, or 255 KiB in an urgent one: split it, or publish a link to it.',
  },
  TIMESTAMP_OUT_OF_ORDER: {
    summary: 'The timestamp is earlier than that of a message already published',
    remedy: 'Publish in order of time, or leave out the timestamp.',
  },
  TIMESTAMP_OUT_OF_BOUNDS: {
    summary: 'Receivers would refuse the timestamp',
    remedy:
      'Give whole milliseconds since 1970: at most five minutes ahead of the clock, and at most half of maxLiveAgeMs (five minutes) behind it. Put older times into the content.',
  },
  NO_USER_KEY: {
    summary: 'Only the user can change the registries, and its key is not here',
    remedy: 'Give the user’s key (--key FILE or privateKey), a signer or a wallet.',
  },
  PUBLISH_QUEUE_FULL: {
    summary: 'Messages are published faster than they can be sent',
    remedy:
      'Await each publish() before the next, or raise publish.maxQueuedMessages and publish.maxQueuedBytes.',
  },

  INVALID_JSON_CONTENT: {
    summary: 'A message marked as JSON is not JSON, or too deep',
    remedy: 'Its publisher is at fault. Subscribe with raw: true to see the bytes.',
  },
  INVALID_TEXT_CONTENT: {
    summary: 'A message marked as text is not UTF-8',
    remedy: 'Its publisher is at fault. Subscribe with raw: true to see the bytes.',
  },
  CONTENT_UNREADABLE: {
    summary: 'The sealed content of a message could not be opened',
    remedy: 'Its publisher or the content step is at fault. Subscribe with raw: true to see the bytes.',
  },
  CONTENT_NOT_SEALED: {
    summary: 'A content step failed, and the message was not sent',
    remedy: 'See the cause. Publish the message again once that is fixed.',
  },
  KEY_NOT_FOUND: {
    summary: 'The key of an encrypted message was not found',
    remedy:
      'Start the publisher, the stream’s key holder or another reader for a moment: whoever has the key gives it to those who may read. Or ask somebody who can read to grant this user the subscribe permission, also if it has it already: that stores the keys for its card. Without history (encryption.history none) messages from before your permission stay closed.',
  },
  CONTENT_NOT_AUTHENTIC: {
    summary: 'Encrypted content does not decrypt with its key',
    remedy: 'Nothing to do here: its publisher encrypted it wrongly, or two keys have the same name.',
  },
  NOT_KEY_HOLDER: {
    summary: 'This user does not hold the keys of the stream',
    remedy:
      'Do it as the key holder, whom runnel stream show prints. Where each publisher has its own keys, first name one: runnel stream update STREAM --key-holder ADDRESS.',
  },
  NOT_ENCRYPTED: {
    summary: 'The stream is not encrypted',
    remedy:
      'Revoke the public’s subscribe permission, or make a stream with encryption.content set to always. See: runnel stream show.',
  },
  REQUEST_TIMEOUT: {
    summary: 'Nobody replied in time',
    remedy:
      'Check that a responder is running (runnel respond, or client.respond()) and may subscribe. Or wait longer, with timeoutMs.',
  },
  NO_RESPONDER: {
    summary: 'Nobody else is in the stream',
    remedy: 'Start a responder with runnel respond or client.respond(), and ask again.',
  },
  REQUEST_FAILED: {
    summary: 'The responder failed',
    remedy: 'The message says what its handler threw. Correct the request, or the responder.',
  },
  REPLY_UNREADABLE: {
    summary: 'A reply cannot be read',
    remedy: 'The responder or the schema is at fault. Ask with raw: true to see the bytes.',
  },
  TOO_MANY_REQUESTS: {
    summary: 'Too many requests are waiting for replies',
    remedy: 'A client can wait for at most 1,000. Let some of them end, or give them less time.',
  },
  PRESENCE_NOT_ENCRYPTED: {
    summary: 'Presence data is not encrypted, but the stream is',
    remedy: 'Enter without data, and publish what others should know as a message of the stream.',
  },
  CARD_OF_OTHER_USER: {
    summary: 'The card belongs to another user',
    remedy: 'Give the card of the user who gets the permission: runnel reading-key card prints it.',
  },
  KEYS_UNCERTAIN: {
    summary: 'Nothing can be encrypted, because the registry does not say who may read',
    remedy:
      'Try again when the chain answers. To keep publishing with the last key meanwhile, set encryption.onOutage of the stream to continue.',
  },
  ENCRYPTED_CONTENT: {
    summary: 'The message is encrypted',
    remedy: 'This build cannot decrypt it. Subscribe with raw: true to see the bytes.',
  },
} as const satisfies ErrorTable

export type ClientErrorCode = keyof typeof clientErrors
export const clientError = errorFactory(clientErrors)

/** A client error whose remedy names the very command to run. */
export function clientErrorWithRemedy(code: ClientErrorCode, detail: string, remedy: string): RunnelError {
  return new RunnelError(code, `${clientErrors[code].summary}: ${detail}`, remedy)
}

/** The refusal of a user who may not publish or subscribe, and why not any more, if it could before. The remedy names the command that helps. */
export function noPermission(
  wanted: 'publish' | 'subscribe',
  userId: string,
  streamId: string,
  why = '',
): RunnelError {
  return clientErrorWithRemedy(
    wanted === 'publish' ? 'NO_PUBLISH_PERMISSION' : 'NO_SUBSCRIBE_PERMISSION',
    `${userId} on ${streamId}${why}`,
    `Someone with the grant permission runs: runnel stream grant ${streamId} ${userId} ${wanted}; ` +
      `or calls client.grant('${streamId}', { user: '${userId}', permissions: ['${wanted}'] }).`,
  )
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
