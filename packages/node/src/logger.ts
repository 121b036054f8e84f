import { pino, type Logger } from 'pino'
import { escapeJson } from './cli/printable.ts'
import type { LogLevel } from './config/log-levels.ts'

export type { Logger } from 'pino'

/** Keys of log records that could hold a secret: they are never written. */
const redactedPaths = ['privateKey', '*.privateKey', 'key', '*.key', 'secret', '*.secret']

/** Logs lines of JSON to stderr, synchronously: standard output is for data, and the last lines before an end count most. */
export function createLogger(
  level: LogLevel,
  name = 'runnel',
  destination = pino.destination({ fd: 2, sync: true }),
): Logger {
  const redact = { paths: [...redactedPaths], censor: '[secret]' }
  return pino({ name, level, redact, hooks: { streamWrite: escapeJson } }, destination)
}
