import { shownUrl } from '@runnel/client'
import type { NodeId } from '@runnel/protocol'
import { boundedText } from '@runnel/protocol/system'
import type { ClusterView } from '@runnel/tracker'
import { z } from 'zod'

/** How long a tracker may take to answer, in milliseconds. */
const askTimeoutMs = 5_000

/** Bytes of one answer. */
const maxAnswerBytes = 8 * 1024 * 1024

const count = z.number().int().nonnegative()
const nodeId = z.string().regex(/^0x[0-9a-f]{40}$/)

const healthAnswer = z.object({ nodeId, nodes: count, streamParts: count })

const clusterAnswer = z.object({
  nodeId,
  state: z.enum(['unregistered', 'alone', 'joined', 'failed']),
  leads: count,
  replicas: count,
  circuitsOut: count,
  circuitsIn: count,
  trackers: z.array(
    z.object({
      nodeId,
      url: z.string(),
      self: z.boolean(),
      linked: z.boolean(),
      error: z.string().nullable(),
      load: z.object({ nodes: count, leads: count, replicas: count }).nullable(),
    }),
  ),
})

/** What a tracker says of the others, without what only they need. */
type ClusterAnswer = Omit<ClusterView, 'nodeId' | 'peerId' | 'addresses' | 'trackers'> & {
  readonly trackers: readonly (Omit<ClusterView['trackers'][number], 'nodeId'> & {
    readonly nodeId: string
  })[]
}

/** A tracker that is asked: it answers, or there is a reason why not. */
export type TrackerState =
  | { readonly nodeId: NodeId | undefined; readonly url: string; readonly error: string }
  | {
      readonly nodeId: string
      readonly url: string
      readonly nodes: number
      readonly streamParts: number
      /** Undefined when it is in no cluster. */
      readonly cluster: ClusterAnswer | undefined
    }

/** Asks a tracker, by what nodes dial or the address of its HTTP API, how it is doing. Never rejects. */
export async function askTracker(asked: string, expected?: NodeId): Promise<TrackerState> {
  const url = shownUrl(asked)
  try {
    const base = httpUrlOf(asked)
    const health = healthAnswer.parse(await get(`${base}/health`))
    if (expected !== undefined && health.nodeId !== expected)
      return { nodeId: expected, url, error: `another tracker answers there: ${health.nodeId}` }
    const cluster = await get(`${base}/v1/cluster`)
    const { nodeId, nodes, streamParts } = health
    const answer = cluster === undefined ? undefined : clusterAnswer.parse(cluster)
    return { nodeId, url, nodes, streamParts, cluster: answer }
  } catch (error) {
    return { nodeId: expected, url, error: reasonOf(error) }
  }
}

/** Where what nodes dial answers HTTP. */
export function httpUrlOf(url: string): string {
  const { protocol, host } = new URL(url)
  return `${protocol === 'wss:' || protocol === 'https:' ? 'https' : 'http'}://${host}`
}

/** Undefined when there is no such thing. */
async function get(url: string): Promise<unknown> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(askTimeoutMs) })
  if (response.status === 404) return undefined
  if (!response.ok) throw new Error(`it answers ${response.status}`)
  const text = await boundedText(response, maxAnswerBytes)
  if (text === undefined) throw new Error(`its answer has more than ${maxAnswerBytes} bytes`)
  return JSON.parse(text)
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'the server there is not a tracker'
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
