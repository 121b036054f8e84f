/** The largest file of a record, and what it may hold. */
export const recordLimits = {
  maxFileBytes: 64 * 1024 * 1024,
  maxRows: 10_000,
  maxTextChars: 200,
} as const
