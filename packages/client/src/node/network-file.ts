/** Network files: how the commands and applications of Node find a network. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import * as z from 'zod/mini'
import { chainSchema, followedSchema, type NetworkSource } from '../config.ts'
import { clientError, reasonOf } from '../errors.ts'
import { isUrl } from '../registry/document/document-source.ts'
import { describeIssues, staticNetworkSchema } from '../registry/static-network.ts'

const followedFileSchema = z.strictObject({ version: z.literal(1), document: followedSchema })
/** Of a signed document: it is checked when it is opened, and each time it changes. */
const signedFileSchema = z.object({ version: z.literal(1), owner: followedSchema.shape.owner })
const chainFileSchema = z.strictObject({ version: z.literal(1), chain: chainSchema })

/**
 * Reads a network file, which holds one of these: the place of a chain, as `runnel up` writes it,
 * `{ version: 1, chain: { rpcUrl, chainId, registries } }`; a signed document, as `runnel network init` writes it, whose owner is trusted from then
 * on; the place of such a document, `{ version: 1, document: { owner, sources } }`, with paths relative to the file; or a StaticNetwork. Throws
 * NETWORK_FILE_MISSING, NETWORK_FILE_UNREADABLE or NETWORK_FILE_INVALID with the place of the mistake.
 */
export function readNetworkFile(path: string): NetworkSource {
  const content = parseJson(path, readText(path))
  if (typeof content === 'object' && content !== null && 'chain' in content) {
    return { kind: 'chain', ...check(path, chainFileSchema, content).chain }
  }
  if (typeof content === 'object' && content !== null && 'document' in content) {
    const { sources, copy, ...document } = check(path, followedFileSchema, content).document
    const placed = (place: string) => (isUrl(place) ? place : resolve(dirname(path), place))
    const kept = copy === undefined ? {} : { copy: resolve(dirname(path), copy) }
    return { kind: 'document', ...document, sources: sources.map(placed), ...kept }
  }
  if (typeof content === 'object' && content !== null && 'signature' in content) {
    const { owner } = check(path, signedFileSchema, content)
    return { kind: 'document', owner, sources: [resolve(path)] }
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
