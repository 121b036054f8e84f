/** What an error code means and what its reader can do about it. */
export interface ErrorEntry {
  /** What happened, one sentence. */
  readonly summary: string
  /** What to do, one sentence. */
  readonly remedy: string
}

/** A package's error codes. Every code is listed in `docs/errors.md`; a test compares the two. */
export type ErrorTable = Readonly<Record<string, ErrorEntry>>

/**
 * The one error class of Runnel. `code` is stable and meant for programs, `message` and `remedy` for people.
 * Neither ever holds a secret.
 */
export class RunnelError<Code extends string = string> extends Error {
  override readonly name = 'RunnelError'
  readonly code: Code
  readonly remedy: string

  constructor(code: Code, message: string, remedy: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
    this.remedy = remedy
  }
}

/** Makes the constructor function of a package's errors: `fail('CODE', 'what exactly', { cause })`. */
export function errorFactory<T extends ErrorTable>(table: T) {
  return <Code extends keyof T & string>(
    code: Code,
    detail?: string,
    options?: { cause?: unknown },
  ): RunnelError<Code> => {
    const entry = table[code] as ErrorEntry
    return new RunnelError(
      code,
      detail ? `${entry.summary}: ${detail}` : entry.summary,
      entry.remedy,
      options,
    )
  }
}

/** True when `error` is a RunnelError, with `code` when one is given. */
export function isRunnelError(error: unknown, code?: string): error is RunnelError {
  return error instanceof RunnelError && (code === undefined || error.code === code)
}

/** Error codes of `@runnel/protocol`. */
export const protocolErrors = {
  INVALID_NODE_ID: {
    summary: 'Not the address of a node or a user',
    remedy: 'Both are Ethereum addresses: 0x and 40 hexadecimal digits.',
  },
  INVALID_STREAM_ID: {
    summary: 'Not a stream id',
    remedy:
      'A stream id is 0xowner/path: an Ethereum address, a slash, and 1 to 200 characters from a-z A-Z 0-9 . _ - /. For a stream of your own, write /path; to subscribe to all below it, /path/#.',
  },
  INVALID_PARTITION: {
    summary: 'Not a partition',
    remedy: 'A partition is a whole number from 0 to 99, below the partition count of its stream.',
  },
  MALFORMED_PACKET: {
    summary: 'Bytes that are not a packet of this protocol',
    remedy: 'The sender is broken, hostile, or speaks another protocol. Its connection is closed.',
  },
  UNSUPPORTED_VERSION: {
    summary: 'This build does not know this version of the protocol',
    remedy: 'Update Runnel, or ask the other side to update.',
  },
  LIMIT_EXCEEDED: {
    summary: 'Larger than the protocol allows',
    remedy: 'Send less at once. docs/limits.md lists every limit.',
  },
  NODE_NOT_LISTED: {
    summary: 'The private network does not list this user',
    remedy:
      'Ask the owner of the tracker registry to list the address, with: runnel registry allow-node. Or act for a listed user, with: runnel key delegate.',
  },
  TOO_MANY_NODES_OF_USER: {
    summary: 'Too many nodes act for this user in the private network',
    remedy: "Stop one of the user's 16 other processes, or act for another listed user.",
  },
  DELEGATION_EXPIRED: {
    summary: 'The delegation has expired',
    remedy:
      'Ask the user for a new one: with runnel key delegate, or on the page. Also check the clock of this machine.',
  },
  DELEGATION_NOT_YET: {
    summary: 'The delegation is not valid yet',
    remedy:
      'Set the clocks of this machine and of the one that signed it: they differ by more than five minutes.',
  },
  DELEGATION_FORGED: {
    summary: 'The delegation is not signed by its user',
    remedy: "Make a new one with the user's key: runnel key delegate.",
  },
  DELEGATION_NOT_YOURS: {
    summary: 'The delegation is for another key',
    remedy: 'Ask the user for a delegation to the key of this process.',
  },
  DELEGATION_OTHER_CHAIN: {
    summary: 'The delegation is for a network on another chain',
    remedy:
      'Make one for this chain: runnel key delegate with this network; in a wallet, choose its chain first.',
  },
  DELEGATION_TOO_LONG: {
    summary: 'The delegation lasts longer than allowed',
    remedy: 'Make one that lasts at most 366 days, and renew it.',
  },
  DELEGATION_TOO_BROAD: {
    summary: 'The delegation covers all streams for too long',
    remedy: 'Name its streams (at most 8), or make one that lasts at most 92 days, and renew it.',
  },
  DELEGATION_REVOKED: {
    summary: 'The user revoked the delegation',
    remedy: 'Ask the user for a new one, for a new key: runnel key delegate.',
  },
  DELEGATION_SCOPE: {
    summary: 'The delegation does not allow this',
    remedy: 'Ask the user for one that allows publishing or reading this stream: runnel key delegate.',
  },
  CARD_FORGED: {
    summary: 'The card is not signed by its user',
    remedy:
      "Make a new one with the user's key. For a contract account, the contract must accept the signature.",
  },
  CARD_OTHER_CHAIN: {
    summary: 'The card is for a network on another chain',
    remedy: 'Make one for this chain; in a wallet, choose its chain first.',
  },
  CARD_NOT_YET: {
    summary: 'The card is dated in the future',
    remedy:
      'Set the clocks of this machine and of the one that signed it: they differ by more than five minutes.',
  },
  CARD_OLDER_GENERATION: {
    summary: 'There is a card of a later generation',
    remedy:
      "Read with the user's newest reading key, or hand over its card (runnel reading-key card --generation N): this one was replaced.",
  },
  CARD_REPLAYED: {
    summary: 'There is a newer card of the same generation',
    remedy:
      'Nothing to do if an old card was sent by accident. Otherwise sign a new one, and check the clock.',
  },
  INVALID_KEY: {
    summary: 'Not a private key',
    remedy: 'A private key is 32 bytes (64 hexadecimal digits). Make one with: runnel key new.',
  },
} as const satisfies ErrorTable

/** True when a delegation was refused, and the code says why. */
export function isDelegationError(error: unknown): error is RunnelError {
  return isRunnelError(error) && error.code.startsWith('DELEGATION_')
}

/** True when a card was refused, and the code says why. */
export function isCardError(error: unknown): error is RunnelError {
  return isRunnelError(error) && error.code.startsWith('CARD_')
}

export type ProtocolErrorCode = keyof typeof protocolErrors
export const protocolError = errorFactory(protocolErrors)
