import { pino, type DestinationStream, type Logger } from 'pino'
import { escapeJson } from './cli/printable.ts'
import type { LogFormat, LogLevel } from './config/log-levels.ts'
import { textOfLogLine } from './log-text.ts'

export type { Logger } from 'pino'

/** Keys of log records that could hold a secret: they are never written. */
const redactedPaths = ['privateKey', '*.privateKey', 'key', '*.key', 'secret', '*.secret']

export interface LoggerOptions {
  /** Default `auto`: text where stderr is a terminal, else JSON. */
  readonly format?: LogFormat | undefined
  readonly destination?: DestinationStream
}

/** Logs to stderr, synchronously: standard output is for data, and the last lines before an end count most. */
export function createLogger(level: LogLevel, name = 'runnel', options: LoggerOptions = {}): Logger {
  const { format = 'auto', destination = pino.destination({ fd: 2, sync: true }) } = options
  const redact = { paths: [...redactedPaths], censor: '[secret]' }
  const isText = format === 'text' || (format === 'auto' && process.stderr.isTTY)
  const streamWrite = isText ? textOfLogLine : escapeJson
  return pino({ name, level, redact, hooks: { streamWrite } }, destination)
}
