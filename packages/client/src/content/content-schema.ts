import type { StandardSchemaV1 } from '@standard-schema/spec'
import { clientError } from '../errors.ts'

/**
 * The expected content: a schema of Zod, Valibot, ArkType or another library that follows the Standard Schema and answers synchronously.
 */
export type ContentSchema<T> = StandardSchemaV1<unknown, T>

/** Characters of a schema's complaint that are passed on: it may quote the content. */
const maxIssueLength = 200

/** The content as the schema gives it. Throws CONTENT_MISMATCH, and INVALID_ARGUMENT for a schema that takes its time. */
export function checkContent<T>(content: unknown, schema: ContentSchema<T>): T {
  const result = schema['~standard'].validate(content)
  if (result instanceof Promise) {
    // Zod answers so after one of the schema's own functions threw, whatever the content made it do.
    result.catch(() => {})
    throw clientError(
      'INVALID_ARGUMENT',
      'a schema that answers with a promise, or throws, cannot check messages',
    )
  }
  if (result.issues === undefined) return result.value
  throw clientError('CONTENT_MISMATCH', describe(result.issues[0]).slice(0, maxIssueLength))
}

function describe(issue: StandardSchemaV1.Issue | undefined): string {
  const path = issue?.path?.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  return [path, issue?.message].filter(Boolean).join(': ')
}
