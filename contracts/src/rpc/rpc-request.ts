import type { IncomingMessage } from 'node:http'
import { FetchRequest } from '@runnel/contracts/ethers'

type GetUrl = NonNullable<FetchRequest['getUrlFunc']>

/** How long one request may take. */
export const requestTimeoutMs = 10_000
/** Largest answer of an endpoint: a thousand times what is asked for in one batch. */
const maxAnswerBytes = 64 * 1024 * 1024

/**
 * A request to an endpoint of a chain. In Node it ends, and its socket closes, when its time is up, when it is cancelled and when the answer is
 * too large: with ethers' own the socket stays open, and with it the process. Where it is told to ask less often it waits as long as that says, or
 * gives up if that is too long.
 */
export function rpcRequest(url: string, timeoutMs = requestTimeoutMs): FetchRequest {
  const request = new FetchRequest(url)
  request.timeout = timeoutMs
  if (typeof process !== 'undefined' && typeof process.getBuiltinModule === 'function')
    request.getUrlFunc = getUrlInNode
  request.retryFunc = (_, response) => waitAsTold(response, timeoutMs)
  return request
}

/** After a 429. ethers alone takes the seconds of `Retry-After` for milliseconds, and so asks twelve times at once. Without any it waits longer each time. */
async function waitAsTold(
  { headers }: { readonly headers: Readonly<Record<string, string>> },
  timeoutMs: number,
): Promise<boolean> {
  const waitMs = Number(headers['retry-after'] ?? 0) * 1000
  if (waitMs >= timeoutMs) return false
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  return true
}

const getUrlInNode: GetUrl = async (asked, cancelled) => {
  // Not imported: pages load this file, too. `fetch` would take 28 MB more of a process.
  const { request } = process.getBuiltinModule(
    new URL(asked.url).protocol === 'https:' ? 'node:https' : 'node:http',
  )
  const end = new AbortController()
  const { promise: response, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const late = Object.assign(new Error(`no answer within ${asked.timeout} ms`), { code: 'TIMEOUT' })
  cancelled?.addListener(() => end.abort(Object.assign(new Error('cancelled'), { code: 'CANCELLED' })))
  const sent = request(asked.url, { method: asked.method, headers: asked.headers, signal: end.signal })
  sent.once('response', resolve).on('error', reject)
  sent.end(asked.body ?? undefined)
  const timer = setTimeout(() => end.abort(late), asked.timeout)
  try {
    const { statusCode = 0, statusMessage = '', headers } = await response
    const texts = Object.entries(headers).map(([name, value = '']) => [name, [value].flat().join(', ')])
    const body = unpacked(await bytesOf(await response), headers['content-encoding'])
    return { statusCode, statusMessage, headers: Object.fromEntries(texts) as Record<string, string>, body }
  } catch (error) {
    throw end.signal.aborted ? end.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

/** Throws where it is too large, or is cut off; the socket is closed then. */
async function bytesOf(response: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > maxAnswerBytes) throw new Error(`an answer of more than ${maxAnswerBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** ethers asks for gzip. Throws where it is no gzip, or too large. */
function unpacked(body: Uint8Array, encoding: string | undefined): Uint8Array {
  if (encoding !== 'gzip') return body
  return process.getBuiltinModule('node:zlib').gunzipSync(body, { maxOutputLength: maxAnswerBytes })
}
