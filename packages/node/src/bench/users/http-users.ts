import { nodeError } from '../../errors.ts'
import { gatewayRefused, gatewayUnreachable } from './gateway-errors.ts'
import type { BenchUser, UserFactory, UserOptions } from './user.ts'

/** A post without an answer would hold up all later ones of its user. */
const postTimeoutMs = 30_000

/** Where a gateway is, and the key for it. */
export interface HttpGatewayPlace {
  readonly url: string
  readonly key: string
}

/** Programs that publish and read over the HTTP of a gateway. */
export function httpUsers(): UserFactory {
  return {
    leavesOut:
      'being nodes: the gateway floods, verifies and repairs for them; each posts one message after the other; and what is urgent goes as ordinary messages',
    open: (options) => {
      const { gateway } = options.place
      if (gateway === undefined) throw nodeError('BENCH_GATEWAY_MISSING', 'users of kind http')
      return openHttpUser(gateway, options)
    },
    stop: () => Promise.resolve(),
  }
}

/** One that reads events and posts messages. Throws BENCH_GATEWAY_UNREACHABLE, BENCH_GATEWAY_REFUSED, and the signal's reason. */
export async function openHttpUser(gateway: HttpGatewayPlace, options: UserOptions): Promise<BenchUser> {
  const { plan, part, onMessage, onError } = options
  const headers = { authorization: `Bearer ${gateway.key}` }
  const stream = `${gateway.url}/v1/streams/${encodeURIComponent(part.streamId)}`
  const query = `?partition=${part.partition}`
  const ended = new AbortController()
  const signal = AbortSignal.any([ended.signal, options.signal])
  if (plan.subscribes) {
    const response = await ask(`${stream}/events${query}`, { headers, signal })
    // What ends in order ends a reader all the same: what it misses from then on looks like nothing was sent.
    const onEnd = (cause: unknown) => {
      if (!signal.aborted) onError(gatewayUnreachable(gateway.url, cause))
    }
    if (response.body) readEvents(response.body, onMessage).then(() => onEnd('it ended the events'), onEnd)
  }
  const post = async (body: Uint8Array<ArrayBuffer>) => {
    const type = { 'content-type': 'application/octet-stream' }
    const response = await ask(`${stream}/messages${query}`, {
      ...{ method: 'POST', body, headers: { ...headers, ...type } },
      signal: AbortSignal.any([signal, AbortSignal.timeout(postTimeoutMs)]),
    })
    await response.arrayBuffer()
  }
  // One after the other: requests side by side arrive in any order.
  let posted = Promise.resolve()
  const publish = (content: Uint8Array) => {
    const body = new Uint8Array(content)
    const done = posted.then(() => post(body))
    posted = done.catch(() => {})
    return done
  }
  return {
    publish,
    dropped: () => undefined,
    neighbours: () => Promise.resolve(undefined),
    stop: () => Promise.resolve(ended.abort()),
  }
}

/** Throws BENCH_GATEWAY_UNREACHABLE, BENCH_GATEWAY_REFUSED, and the signal's reason. */
async function ask(url: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
  const response = await fetch(url, init).catch((cause: unknown) => {
    throw init.signal.aborted ? cause : gatewayUnreachable(url, cause)
  })
  if (response.ok) return response
  throw gatewayRefused(url, `${response.status} ${await response.text()}`)
}

/** Server-sent events: each a block of lines, in which data is JSON; bytes are `{ "base64": … }`. */
async function readEvents(
  body: ReadableStream<Uint8Array>,
  onMessage: UserOptions['onMessage'],
): Promise<void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of body) {
    const blocks = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const content = contentOf(block)
      if (content !== undefined) onMessage(content)
    }
  }
}

function contentOf(block: string): Uint8Array | undefined {
  const lines = block.split('\n')
  const data = lines.find((line) => line.startsWith('data: '))
  // Other events tell of gaps and ends.
  if (data === undefined || lines.some((line) => line.startsWith('event: '))) return undefined
  const { content } = JSON.parse(data.slice('data: '.length)) as { content?: { base64?: unknown } }
  return typeof content?.base64 === 'string' ? Buffer.from(content.base64, 'base64') : undefined
}
