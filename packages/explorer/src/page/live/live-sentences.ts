import { shownText } from '../format.ts'

const sentences: Readonly<Record<string, string>> = {
  PAGE_INCOMPLETE:
    'A part of this page could not be loaded; the tracker may have been updated. Reload the page.',
  NO_WEBRTC:
    'This browser does not support WebRTC, or it is turned off, so this page cannot join the overlay as a node.',
  NO_WEBSOCKET:
    'This browser does not support WebSocket, or it is blocked, so this page cannot reach the trackers.',
  CHAIN_UNREACHABLE:
    'The chain with the registries does not answer. It may have stopped, this device may be unable to reach it, or it may refuse pages from other origins.',
  CHAIN_MISMATCH:
    'The chain that answers is not the chain of the network: the address of the chain is wrong.',
  REGISTRY_MISSING:
    'There is no registry at the address that the tracker gave: the address or the chain is wrong.',
  INVALID_CONFIG:
    'This page cannot use the network configuration of the tracker. The tracker may run another version.',
  STREAM_NOT_FOUND: 'The registry does not list this stream: it was deleted or never created.',
  NO_SUBSCRIBE_PERMISSION:
    'This stream is not public, and the user of this page may not subscribe to it. Join as a user who may.',
  ENCRYPTED_STREAM:
    'This stream is encrypted, and the user of this page may not read it. Join as a user who may. Anybody with the grant permission on the stream can grant access.',
  NO_KEY_FILE:
    'These are not key files. Choose one key file, or a delegation file and the reading key file of its user, as the runnel command writes them.',
  KEY_FILES_APART:
    'These files do not belong together. Choose one key file, or one delegation file and the reading key file of its user.',
  NO_READING_KEY:
    'The delegation cannot open encrypted content without a reading key. Leave, and choose the reading key file (runnel reading-key export FILE) together with the delegation file.',
  KEY_NOT_FOUND:
    'Nobody gave the user of this page the key. If the user may read the stream, start the publisher or another reader for a moment. Otherwise join as a user who may.',
  CONTENT_NOT_AUTHENTIC: 'It cannot be decrypted with its key: its publisher encrypted it wrongly.',
  DELEGATION_EXPIRED:
    'The delegation that this page acts under has expired, so it takes part no more. Leave and join again with a new one.',
  DELEGATION_REVOKED:
    'The user revoked the delegation that this page acts under, so it takes part no more. Leave and join again with a new one.',
  NODE_REPLACED:
    'Another page or program with the same key took the place of this page. Stop it, then leave and join again.',
  NO_WALLET: 'This browser has no Ethereum wallet. Install one, or join with a key file.',
  WALLET_REFUSED: 'The wallet refused. Leave and join again to try once more.',
  READING_KEY_NOT_YOURS:
    'The reading key and the delegation belong to different users. Choose files of the same user.',
  KEYS_UNCERTAIN: 'Nothing can be encrypted at the moment, so nothing was published. Try again soon.',
  NO_STORAGE_NODE: 'No storage node keeps this stream: you can only see messages published from now on.',
  NO_PUBLISH_PERMISSION:
    'The key of this page may not publish to this stream. The owner of the stream can allow it.',
  TIMESTAMP_REFUSED:
    'Some messages are not shown, because their times are minutes from the clock of this device. Set the clock, then leave and join again. If it is right, the clock of their publisher is wrong.',
  NODE_NOT_LISTED: 'This is a private network, and the key of this page is not on its list.',
  PARTITION_OUT_OF_RANGE:
    'The stream has no messages in this partition: it has fewer partitions, or this one carries its encrypted keys.',
  MESSAGE_TOO_LARGE: 'The message is too large: at most 1 MiB.',
  PUBLISH_QUEUE_FULL: 'Too many messages are waiting to be sent. Try again in a moment.',
  NETWORK_NOT_TOLD:
    'This tracker does not say which network it serves, so this page cannot take part. Start the tracker with --explorer-network.',
}

/** A sentence that a person understands, for an error of the client. */
export function liveSentence(error: unknown): string {
  const code = codeOf(error)
  const known = code === undefined || !Object.hasOwn(sentences, code) ? undefined : sentences[code]
  if (known !== undefined) return known
  const message = error instanceof Error ? error.message : String(error)
  return shownText(`That failed: ${message}`, 300)
}

/** Why no tracker tells this page of neighbours, and what to do. What a tracker says of it may be in the error. */
export function trackerSentence(error: Error): string {
  const remedy = 'remedy' in error && typeof error.remedy === 'string' ? ` ${error.remedy}` : ''
  return shownText(
    `This page is connected to no tracker, and finds no neighbours. ${error.message}.${remedy}`,
    400,
  )
}

/** The code of an error of the client; undefined for others. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
