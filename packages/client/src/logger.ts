/** Where log lines go; a pino logger is one. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Keeps still: everything that is logged is also a status of the client. */
export const silentLogger: Logger = { info() {}, warn() {}, error() {} }
