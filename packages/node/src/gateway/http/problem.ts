import { isRunnelError, type RunnelError } from '@runnel/protocol'
import { WaitError } from '../access/rate.ts'
import { nodeError } from '../../errors.ts'

/** What an error is answered with: problem details (RFC 9457) with the error's code, and what to do about it. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly remedy: string
}

/** What a client of a gateway can do about; anything else is 503 or 500. */
const codesByStatus: Readonly<Record<number, readonly string[]>> = {
  400: [
    ...[
      'INVALID_ARGUMENT',
      'INVALID_STREAM_ID',
      'INVALID_PARTITION',
      'PARTITION_OUT_OF_RANGE',
      'INVALID_NODE_ID',
    ],
    ...['INVALID_RESEND', 'INVALID_HEADERS', 'INVALID_MESSAGE_KEY', 'INVALID_CONTENT', 'INPUT_INVALID'],
    ...['TIMESTAMP_OUT_OF_BOUNDS', 'TIMESTAMP_OUT_OF_ORDER', 'GATEWAY_CURSOR_INVALID', 'MALFORMED_PACKET'],
    ...['BATCH_FORGED', 'DELEGATION_FORGED'],
  ],
  401: ['GATEWAY_KEY_MISSING', 'GATEWAY_KEY_WRONG', 'GATEWAY_KEY_ENDED'],
  403: [
    ...['GATEWAY_NOT_ALLOWED', 'NO_PUBLISH_PERMISSION', 'NO_SUBSCRIBE_PERMISSION', 'RESEND_DENIED'],
    ...['NODE_NOT_LISTED', 'NOT_PERMITTED'],
  ],
  404: ['STREAM_NOT_FOUND', 'NO_LAST_VALUE', 'GATEWAY_NO_ROUTE'],
  405: ['GATEWAY_WRONG_METHOD'],
  409: ['NO_STORAGE_NODE'],
  413: [
    'GATEWAY_TOO_LARGE',
    'GATEWAY_BATCH_TOO_LARGE',
    'MESSAGE_TOO_LARGE',
    'TABLE_TOO_LARGE',
    'LIMIT_EXCEEDED',
  ],
  415: ['GATEWAY_CONTENT_TYPE'],
  422: ['GATEWAY_REUSED_KEY'],
  429: ['GATEWAY_RATE', 'GATEWAY_TOO_MANY_CONNECTIONS', 'GATEWAY_TOO_MANY_IDENTITIES', 'PUBLISH_QUEUE_FULL'],
  504: ['NOT_STORED_IN_TIME'],
}

const statuses = new Map(
  Object.entries(codesByStatus).flatMap(([status, codes]) =>
    codes.map((code) => [code, Number(status)] as const),
  ),
)

/** The status for an error code of this project: 503 for what another try may mend. */
function statusOf(code: string): number {
  // Whatever is wrong with the delegation that is served, its operator has to mend.
  return statuses.get(code) ?? (code === 'INTERNAL' ? 500 : 503)
}

/** How long to wait until another try may do, in milliseconds; undefined where that is no matter of time. */
export function waitOf(error: unknown): number | undefined {
  return error instanceof WaitError ? error.waitMs : undefined
}

/** What is no RunnelError is a fault here, and says nothing of itself. */
export function problemOf(error: unknown): Problem {
  const known: RunnelError = isRunnelError(error) ? error : nodeError('INTERNAL', 'the gateway failed')
  const { code, message, remedy } = known
  const status = waitOf(error) === undefined ? statusOf(code) : 429
  const title = message.split(':')[0] ?? message
  return { type: `urn:runnel:error:${code}`, title, status, detail: message, code, remedy }
}
