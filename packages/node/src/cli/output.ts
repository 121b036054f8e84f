import { nodeError } from '../errors.ts'
import { errorLine } from './error-line.ts'
import { exitCodeFor } from './exit-codes.ts'
import { printable, printableJson } from './printable.ts'

/** Data for programs and people on standard output; waits while the reader is slow. False once the reader is gone. */
export interface Output {
  write(text: string | Uint8Array): Promise<boolean>
  /** Resolves when the reader is gone. */
  readonly closed: Promise<void>
}

let shared: Output | undefined

/** Standard output, of which there is one: from the first call on, a reader that goes away ends no command that does not look at it. */
export function standardOutput(): Output {
  shared ??= outputTo(process.stdout)
  return shared
}

/** A reader that goes away (`runnel … | head -1`) is no error; a full disk behind it is one, and ends the command, too. */
export function outputTo(stream: NodeJS.WritableStream): Output {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  let open = true
  stream.on('error', (error: NodeJS.ErrnoException) => {
    tellOfFailure(error)
    open = false
    resolve()
  })
  const write = async (text: string | Uint8Array) => {
    if (!open) return false
    if (!stream.write(text)) {
      const drained = Promise.withResolvers<void>()
      stream.once('drain', drained.resolve)
      await Promise.race([drained.promise, closed])
      stream.off('drain', drained.resolve)
    }
    return open
  }
  return { write, closed }
}

/** Of writing to standard output, unless its reader is gone. */
export function tellOfFailure(cause: NodeJS.ErrnoException): void {
  if (cause.code === 'EPIPE' || cause.code === 'ERR_STREAM_DESTROYED') return
  const code = cause.code === 'ENOSPC' ? 'DISK_FULL' : 'FILE_UNWRITABLE'
  notice(errorLine(nodeError(code, `standard output: ${cause.message}`)))
  process.exitCode = exitCodeFor(code)
}

/** One result: JSON when asked for, else lines for a person. What others wrote in it cannot reach the terminal as more than text. */
export function printResult(value: unknown, json: boolean, lines: readonly string[]): void {
  const output = json ? [printableJson(value)] : lines.map(printable)
  process.stdout.write(output.map((line) => `${line}\n`).join(''))
}

/** A remark for the person at the terminal, on one line. */
export function notice(text: string): void {
  process.stderr.write(`runnel: ${printable(text)}\n`)
}
