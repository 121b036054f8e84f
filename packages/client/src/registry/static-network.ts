import { limits, toNodeId, toStreamId } from '@runnel/protocol'
import en from 'zod/v4/locales/en.js'
import * as z from 'zod/mini'
import { clientError } from '../errors.ts'
import { plainIssue } from './plain-issue.ts'
import { isTrackerUrl } from './tracker-url.ts'

// The small entry of zod has no texts for its own errors.
z.config(en())

/** The error texts of the ids' own constructors, as problems of the document. */
function parsed<T>(parse: (text: string) => T) {
  const transform = z.transform((text: string, context): T => {
    try {
      return parse(text)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      context.issues.push({ code: 'custom', message, input: text })
      return z.NEVER
    }
  })
  return z.pipe(z.string(), transform)
}

const nodeIdSchema = parsed(toNodeId)
const streamIdSchema = parsed(toStreamId)

/** Until when: `true` for ever, else whole Unix milliseconds or an ISO 8601 date with its offset. */
const untilSchema = z.union(
  [
    z.pipe(
      z.boolean(),
      z.transform((on) => (on ? Infinity : 0)),
    ),
    z.int().check(z.nonnegative()),
    z.pipe(
      z.iso.datetime({ offset: true }),
      z.transform((text) => Date.parse(text)),
    ),
  ],
  { error: 'must be true, false, Unix milliseconds, or a date such as "2030-01-01T00:00:00Z"' },
)

const permissionsSchema = z
  .strictObject({
    user: z.union([z.literal('public'), nodeIdSchema], { error: 'must be "public" or a node id' }),
    publish: z.optional(untilSchema),
    subscribe: z.optional(untilSchema),
    edit: z.optional(z.boolean()),
    delete: z.optional(z.boolean()),
    grant: z.optional(z.boolean()),
  })
  .check(
    z.refine(({ user, edit, delete: remove, grant }) => user !== 'public' || !(edit || remove || grant), {
      error: 'only publish and subscribe can be public',
    }),
  )

/** A tracker or a storage node. */
const trackerSchema = z.strictObject({
  nodeId: nodeIdSchema,
  url: z.string().check(
    z.refine(isTrackerUrl, {
      error: 'must be a ws:// or wss:// URL of at most 512 bytes, without user and password',
    }),
  ),
})

const streamSchema = z.strictObject({
  id: streamIdSchema,
  partitions: z._default(z.int().check(z.minimum(1), z.maximum(limits.maxPartitions)), 1),
  metadata: z._default(z.string(), '{}'),
  trackers: z._default(z.array(nodeIdSchema), []),
  storageNodes: z._default(
    z.array(trackerSchema).check(
      z.maxLength(limits.maxStorageNodes),
      z.superRefine((nodes, context) => {
        refuseRepeats(
          context,
          [],
          'nodeId',
          nodes.map(({ nodeId }) => nodeId),
        )
      }),
    ),
    [],
  ),
  permissions: z._default(z.array(permissionsSchema), []),
})

/** A network whose registries are a document: trackers, streams, permissions and storage nodes. */
export const staticNetworkSchema = z
  .strictObject({
    version: z.literal(1),
    /** For which delegations are signed; 0 where the document stands for no chain. */
    chainId: z._default(z.int().check(z.minimum(0)), 0),
    trackers: z.array(trackerSchema),
    streams: z.array(streamSchema),
  })
  .check(
    z.superRefine(({ trackers, streams }, context) => {
      refuseRepeats(
        context,
        ['trackers'],
        'nodeId',
        trackers.map(({ nodeId }) => nodeId),
      )
      refuseRepeats(
        context,
        ['streams'],
        'id',
        streams.map(({ id }) => id),
      )
    }),
  )

function refuseRepeats(
  context: z.core.$RefinementCtx,
  list: readonly string[],
  key: string,
  values: readonly string[],
): void {
  values.forEach((value, index) => {
    if (values.indexOf(value) === index) return
    context.addIssue({
      code: 'custom',
      path: [...list, index, key],
      message: `${value} is listed twice`,
      input: value,
    })
  })
}

/** The network document as written, before defaults are filled in. */
export type StaticNetwork = z.input<typeof staticNetworkSchema>
/** The document as read. */
export type ParsedStaticNetwork = z.output<typeof staticNetworkSchema>
export type ParsedStaticStream = ParsedStaticNetwork['streams'][number]

/** What a signed document describes. Throws NETWORK_DOCUMENT_INVALID. */
export function parseStaticNetwork(content: unknown): ParsedStaticNetwork {
  const result = staticNetworkSchema.safeParse(content)
  if (!result.success) throw clientError('NETWORK_DOCUMENT_INVALID', describeIssues(result.error))
  return result.data
}

/** Lists what the schema found, each with the path of the mistake: `streams[0].permissions[1].user: must be …`. */
export function describeIssues(error: z.core.$ZodError): string {
  return error.issues.map((issue) => `${pathText(issue.path)}: ${plainIssue(issue)}`).join('; ')
}

function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
  return text.replace(/^\./, '') || '(top level)'
}
