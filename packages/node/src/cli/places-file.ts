import type { Places } from '@runnel/tracker'
import { z } from 'zod'
import { nodeError } from '../errors.ts'
import { readTextFile } from './tls-files.ts'

const placesSchema = z.record(
  z.string().regex(/^0x[0-9a-f]{40}$/, { error: 'node ids are 0x and 40 lower-case hexadecimal digits' }),
  z.strictObject({
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    name: z.string().max(64),
  }),
)

/** Where nodes and trackers are, by their ids. Throws FILE_UNREADABLE and USAGE. */
export function readPlaces(path: string): Places {
  const result = placesSchema.safeParse(parseJson(path))
  if (result.success) return result.data
  throw nodeError('USAGE', `--places ${path}: ${z.prettifyError(result.error)}`)
}

function parseJson(path: string): unknown {
  const text = readTextFile(path)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw nodeError('USAGE', `--places ${path} is not JSON`, { cause })
  }
}
