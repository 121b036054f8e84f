import { shownText } from '../format.ts'

const sentences: Readonly<Record<string, string>> = {
  NO_WEBRTC:
    'This browser has no WebRTC, or it is turned off: this page cannot become a node of the overlay.',
  NO_WEBSOCKET: 'This browser has no WebSocket, or it is blocked: this page cannot reach the trackers.',
  CHAIN_UNREACHABLE:
    'The chain with the registries does not answer. It may have stopped, or this device cannot reach it, or it refuses pages of other origins.',
  CHAIN_MISMATCH: 'Another chain answers than the one the network is on: the address of the chain is wrong.',
  REGISTRY_MISSING:
    'There is no registry at the address that the tracker gave: the address is wrong, or the chain is another one.',
  INVALID_CONFIG: 'What the tracker says of the network cannot be used by this page. Is it another version?',
  STREAM_NOT_FOUND: 'The registry does not list this stream: it was deleted, or never made.',
  NO_SUBSCRIBE_PERMISSION:
    'This stream is not open to everybody, and the user of this page may not subscribe to it. Join as a user who may.',
  ENCRYPTED_STREAM:
    'This stream is encrypted, and the user of this page may not read it. Join as a user who may; whoever has the grant permission on the stream can permit one.',
  NO_KEY_FILE:
    'These are no key files. Choose one key file, or a delegation file and the reading key file of its user, as the runnel command writes them.',
  NO_READING_KEY:
    'The delegation comes without a key for what is encrypted. Leave, and choose the reading key file (runnel reading-key export FILE) together with it.',
  KEY_NOT_FOUND:
    'Nobody gave the user of this page the key. If it may read, let the publisher or another reader run for a moment; if not, join as a user who may.',
  CONTENT_NOT_AUTHENTIC: 'It does not open with its key: its publisher sealed it wrongly.',
  NO_WALLET: 'This browser has no Ethereum wallet. Install one, or join with a key file.',
  WALLET_REFUSED: 'The wallet refused. Leave, and join again to be asked again.',
  READING_KEY_NOT_YOURS: 'The reading key is of another user than the delegation. Choose files of one user.',
  KEYS_UNCERTAIN: 'Nothing can be encrypted at the moment, so nothing was published. Try again in a moment.',
  NO_STORAGE_NODE: 'No storage node keeps this stream: there is nothing but what is published from now on.',
  NO_PUBLISH_PERMISSION: 'The key of this page may not publish to this stream. Its owner can permit it.',
  NODE_NOT_LISTED: 'This is a private network, and the key of this page is not on its list.',
  PARTITION_OUT_OF_RANGE:
    'The stream has no messages in this partition: it has fewer, or its keys travel here, sealed.',
  MESSAGE_TOO_LARGE: 'The message is too large: at most 1 MiB.',
  PUBLISH_QUEUE_FULL: 'Too many messages wait to be sent. Try again in a moment.',
  NETWORK_NOT_TOLD:
    'This tracker does not say which network it is in, so this page cannot take part. It does when it is started with --explorer-network.',
}

/** A sentence that a person understands, for an error of the client. */
export function liveSentence(error: unknown): string {
  const code = codeOf(error)
  const known = code === undefined || !Object.hasOwn(sentences, code) ? undefined : sentences[code]
  if (known !== undefined) return known
  const message = error instanceof Error ? error.message : String(error)
  return shownText(`It did not work: ${message}`, 300)
}

/** The code of an error of the client; undefined for others. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
