import { describeError } from '../cli/describe-error.ts'
import { withProgram } from '../cli/program-name.ts'

/** What one check found. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'error'
  readonly message: string
  /** What to do about it; only where it is not ok. */
  readonly remedy?: string
}

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message }
}

export function warning(check: string, message: string, remedy: string): Finding {
  return { check, state: 'warning', message, remedy: withProgram(remedy) }
}

export function failure(check: string, message: string, remedy: string): Finding {
  return { check, state: 'error', message, remedy: withProgram(remedy) }
}

/** What was thrown, as a finding. */
export function failureOf(check: string, error: unknown): Finding {
  const { code, message, remedy } = describeError(error)
  return failure(check, `${message} (${code})`, remedy)
}

/** One line, for people. */
export function findingLine({ check, state, message, remedy }: Finding): string {
  return `${state.padEnd(8)} ${check.padEnd(14)} ${message}${remedy === undefined ? '' : `. ${remedy}`}`
}
