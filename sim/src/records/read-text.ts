import { readFileSync, statSync } from 'node:fs'

/** Reads a file of a bounded size; the options make the errors that are thrown. */
export function readText(
  path: string | URL,
  options: {
    readonly maxFileBytes: number
    unreadable(cause: unknown): Error
    tooLarge(bytes: number): Error
  },
): string {
  let bytes: number
  try {
    bytes = statSync(path).size
    if (bytes <= options.maxFileBytes) return readFileSync(path, 'utf8')
  } catch (cause) {
    throw options.unreadable(cause)
  }
  throw options.tooLarge(bytes)
}
