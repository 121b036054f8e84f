/** Where a tracker logs; a pino logger fits. */
export interface TrackerLogger {
  debug(detail: object, text: string): void
  info(detail: object, text: string): void
  warn(detail: object, text: string): void
  error(detail: object, text: string): void
}

const nothing = () => {}
export const silentLogger: TrackerLogger = { debug: nothing, info: nothing, warn: nothing, error: nothing }
