/** Network files: how the commands and applications of Node find a network. */
import { readFileSync } from 'node:fs'
import * as z from 'zod/mini'
import { chainSchema, type NetworkSource } from '../config.ts'
import { clientError, reasonOf } from '../errors.ts'
import { describeIssues, staticNetworkSchema } from '../registry/static-network.ts'

const chainFileSchema = z.strictObject({ version: z.literal(1), chain: chainSchema })

/**
 * Reads a network file, as `runnel up` writes it: `{ version: 1, chain: { rpcUrl, chainId, registries } }`, or a
 * StaticNetwork. Throws NETWORK_FILE_MISSING, NETWORK_FILE_UNREADABLE or NETWORK_FILE_INVALID with the place of the mistake.
 */
export function readNetworkFile(path: string): NetworkSource {
  const content = parseJson(path, readText(path))
  if (typeof content === 'object' && content !== null && 'chain' in content) {
    return { kind: 'chain', ...check(path, chainFileSchema, content).chain }
  }
  check(path, staticNetworkSchema, content)
  return { kind: 'static', document: content as z.input<typeof staticNetworkSchema> }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    if (missing) throw clientError('NETWORK_FILE_MISSING', path)
    throw clientError('NETWORK_FILE_UNREADABLE', `${path} (${reasonOf(cause)})`, { cause })
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw clientError('NETWORK_FILE_INVALID', `${path} is not JSON: ${reasonOf(cause)}`, { cause })
  }
}

function check<Schema extends z.ZodMiniType>(
  path: string,
  schema: Schema,
  content: unknown,
): z.output<Schema> {
  const result = schema.safeParse(content)
  if (result.success) return result.data
  throw clientError('NETWORK_FILE_INVALID', `${path}: ${describeIssues(result.error)}`)
}
