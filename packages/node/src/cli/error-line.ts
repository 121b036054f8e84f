import { withProgram } from './program-name.ts'

/** What a person is told of an error. */
export interface DescribedError {
  readonly code: string
  readonly message: string
  readonly remedy: string
}

/** `what (CODE). how to fix`, one line. */
export function errorLine({ code, message, remedy }: DescribedError): string {
  return `${message.replace(/\.$/, '')} (${code}). ${withProgram(remedy)}`
}
