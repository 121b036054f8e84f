/** From the most to the least that is written. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** `auto`: text on a terminal, JSON elsewhere. */
export const logFormats = ['auto', 'json', 'text'] as const
export type LogFormat = (typeof logFormats)[number]
