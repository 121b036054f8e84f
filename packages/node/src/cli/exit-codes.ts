/** Exit codes, after sysexits.h (BSD). */
const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 64,
  badData: 65,
  unavailable: 69,
  noPermission: 77,
  badConfig: 78,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** For the end of every help text. */
export const exitCodesHelp =
  'Exit codes: 0 ok, 1 failure, 64 wrong command line, 65 bad input data, 69 a tracker, chain or port is not available, 77 no permission, 78 bad configuration, key or clock.'

/** The exit code for each error code; codes not listed give 1. */
const codesOf: Readonly<Record<Exclude<keyof typeof exitCodes, 'ok' | 'failure'>, readonly string[]>> = {
  usage: [
    'USAGE',
    'INVALID_STREAM_ID',
    'INVALID_NODE_ID',
    'INVALID_PARTITION',
    'PARTITION_OUT_OF_RANGE',
    'INVALID_ARGUMENT',
    'INVALID_RESEND',
    'BENCH_GATEWAY_MISSING',
  ],
  badData: [
    ...['INPUT_INVALID', 'LIMIT_EXCEEDED', 'MESSAGE_TOO_LARGE', 'INVALID_CONTENT', 'INVALID_HEADERS'],
    'INVALID_MESSAGE_KEY',
    ...['DELEGATION_INVALID', 'EXPORT_INVALID', 'BATCH_NOT_GENUINE'],
  ],
  unavailable: [
    ...[
      'CHAIN_UNREACHABLE',
      'CHAIN_DISPUTED',
      'NETWORK_DOCUMENT_UNREACHABLE',
      'CHAIN_DIED',
      'CHAIN_PORT_TAKEN',
      'TRACKER_UNREACHABLE',
      'HOST_UNREACHABLE',
      'STORAGE_UNREACHABLE',
      'PORT_IN_USE',
    ],
    ...['REQUEST_TIMEOUT', 'NO_RESPONDER'],
    ...['DISK_FULL', 'LISTEN_FAILED', 'DIAL_FAILED', 'DIAL_TIMEOUT', 'NO_STORAGE_NODE', 'RESEND_FAILED'],
    'CARDS_UNAVAILABLE',
    ...['BENCH_WORKER_PORT', 'BENCH_WORKER_UNREACHABLE', 'BENCH_WORKER_LOST', 'BENCH_GATEWAY_UNREACHABLE'],
  ],
  noPermission: [
    ...['NO_PUBLISH_PERMISSION', 'NO_SUBSCRIBE_PERMISSION', 'NOT_PERMITTED', 'NOT_STREAM_OWNER'],
    ...['RESEND_DENIED', 'TOKEN_INVALID', 'NODE_NOT_LISTED'],
    ...['OWNABLE_UNAUTHORIZED_ACCOUNT', 'KEYSTORE_PASSWORD_WRONG'],
    ...['DELEGATION_EXPIRED', 'DELEGATION_NOT_YET', 'DELEGATION_REVOKED', 'DELEGATION_SCOPE'],
    'BENCH_WORKER_REFUSED',
  ],
  badConfig: [
    ...[
      'CONFIG_NOT_FOUND',
      'CONFIG_INVALID',
      'INVALID_CONFIG',
      'FILE_UNREADABLE',
      'FILE_UNWRITABLE',
      'INVALID_KEY',
      'KEY_REQUIRED',
      'PLUGIN_NOT_FOUND',
      'PLUGIN_INVALID',
    ],
    ...['BENCH_TOKEN_MISSING', 'BENCH_CLOCKS_APART', 'BENCH_WORKER_VERSION', 'BENCH_TOO_FEW_FILES'],
    ...['BENCH_PACKAGE_MISSING', 'BENCH_BROWSER_MISSING'],
    ...['GATEWAY_NO_KEYS', 'GATEWAY_FILE_MISSING', 'GATEWAY_FILE_UNREADABLE', 'GATEWAY_FILE_TOO_OPEN'],
    ...['GATEWAY_FILE_INVALID', 'GATEWAY_NAME_TAKEN', 'GATEWAY_NO_SUCH_KEY'],
    ...[
      'NETWORK_DOCUMENT_INVALID',
      'NETWORK_DOCUMENT_NOT_OWNERS',
      'NETWORK_DOCUMENT_OLDER',
      'NETWORK_DOCUMENT_COPY_UNUSABLE',
      'NETWORK_OWNER_MISSING',
    ],
    ...['MNEMONIC_INVALID', 'KEYSTORE_INVALID', 'PASSWORD_REQUIRED'],
    'CLOCK_WRONG',
    ...['KEY_FILE_MISSING', 'KEY_FILE_UNREADABLE', 'KEY_FILE_TOO_OPEN', 'NETWORK_NOT_CONFIGURED'],
    ...['DELEGATION_FILE_MISSING', 'DELEGATION_FILE_UNREADABLE', 'DELEGATION_FILE_TOO_OPEN'],
    ...['DELEGATION_FILE_INVALID', 'DELEGATION_TOO_LONG', 'DELEGATION_TOO_BROAD', 'DELEGATION_OTHER_CHAIN'],
    ...['DELEGATION_NOT_YOURS', 'DELEGATION_FORGED', 'NO_USER_KEY'],
    ...['READING_KEY_FILE_MISSING', 'READING_KEY_FILE_UNREADABLE', 'READING_KEY_FILE_TOO_OPEN'],
    ...['READING_KEY_FILE_INVALID', 'NO_READING_KEY', 'READING_KEY_CHANGED', 'CARD_NEEDS_USER'],
    ...['READING_KEY_OTHER_GENERATION', 'READING_KEY_NOT_YOURS'],
    ...['NETWORK_FILE_MISSING', 'NETWORK_FILE_UNREADABLE', 'NETWORK_FILE_INVALID', 'CHAIN_NOT_CONFIGURED'],
    ...[
      'CHAIN_NOT_DEVELOPMENT',
      'CHAIN_MISMATCH',
      'REGISTRY_MISSING',
      'REGISTRY_READ_ONLY',
      'NETWORK_NOT_PRIVATE',
    ],
  ],
}

/** The exit code for an error code. */
export function exitCodeFor(code: string): ExitCode {
  for (const [name, codes] of Object.entries(codesOf)) {
    if (codes.includes(code)) return exitCodes[name as keyof typeof codesOf]
  }
  return exitCodes.failure
}
