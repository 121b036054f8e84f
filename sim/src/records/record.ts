import { z } from 'zod'
import { simError } from '../errors.ts'
import { readText } from './read-text.ts'
import { recordLimits } from './record-limits.ts'

const text = z.string().min(1).max(recordLimits.maxTextChars)
/** What an environment or a parameter may be; null where there is none. */
const value = z.union([text, z.number(), z.boolean(), z.null()])

const schema = z.object({
  format: z.literal('runnel-record'),
  version: z.literal(1),
  /** As the command is called. */
  experiment: text,
  /** Where it was made: in virtual time, in an emulated network, on hosts in AWS regions, or taken from a publication. */
  source: z.enum(['sim', 'emulation', 'aws', 'published']),
  parameters: z.record(text, value),
  environment: z.record(text, value),
  /** One for each thing measured. The names of values state their units; only scalars are tabulated. */
  rows: z.array(z.record(text, z.json())).min(1).max(recordLimits.maxRows),
})

/** What came of an experiment, wherever it was made: docs/records.md. */
export type ExperimentRecord = z.infer<typeof schema>
export type RecordRow = ExperimentRecord['rows'][number]

/** Reads and checks a record. Throws UNREADABLE_RECORD and INVALID_RECORD. */
export function readRecord(path: string): ExperimentRecord {
  const { maxFileBytes } = recordLimits
  return parseRecord(
    readText(path, {
      maxFileBytes,
      unreadable: (cause) => simError('UNREADABLE_RECORD', path, { cause }),
      tooLarge: (bytes) =>
        simError('INVALID_RECORD', `${path} has ${bytes} bytes, more than ${maxFileBytes}`),
    }),
    path,
  )
}

/** Checks every field: the text may come from anywhere. Fields it does not know are left out. Throws INVALID_RECORD. */
export function parseRecord(content: string, path = 'record'): ExperimentRecord {
  let json: unknown
  try {
    json = JSON.parse(content)
  } catch (cause) {
    throw simError('INVALID_RECORD', `${path} is not JSON`, { cause })
  }
  const { data, error } = schema.safeParse(json)
  if (data !== undefined) return data
  const [issue] = error.issues
  throw simError('INVALID_RECORD', `${path}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`)
}
