import { boundedText } from '@runnel/protocol/system'
import { clientError, reasonOf } from '../errors.ts'
import { shownUrl } from '../registry/tracker-url.ts'

/** Largest answer; signed transactions are the largest. */
const maxAnswerBytes = 65_536

interface Endpoint {
  readonly url: string
  readonly token: string | undefined
  readonly timeoutMs: number
}

/** JSON-RPC 2.0 with a signer, one request at a time in an HTTP POST. */
export class JsonRpcOverHttp {
  readonly #endpoint: Endpoint
  #lastId = 0

  /** Throws INVALID_ARGUMENT for a URL over which others could read the token or change requests, or that has user and password. */
  constructor(endpoint: Endpoint) {
    checkUrl(endpoint.url)
    if (endpoint.token !== undefined && !/^[\x21-\x7e]{1,4096}$/.test(endpoint.token)) {
      throw clientError('INVALID_ARGUMENT', 'the token of the signer is empty, too long, or has spaces')
    }
    this.#endpoint = endpoint
  }

  /** What the method gives. Throws SIGNER_UNREACHABLE, SIGNER_REFUSED, SIGNER_FAILED or ABORTED. */
  async call(method: string, params: unknown[], signal?: AbortSignal): Promise<unknown> {
    const { url, token, timeoutMs } = this.#endpoint
    const id = ++this.#lastId
    const timeout = AbortSignal.timeout(timeoutMs)
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const ends = AbortSignal.any([timeout, ...(signal ? [signal] : [])])
    let status: number
    let text: string | undefined
    try {
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal: ends })
      status = response.status
      text = await boundedText(response, maxAnswerBytes)
    } catch (cause) {
      if (signal?.aborted) throw clientError('ABORTED', undefined, { cause: signal.reason })
      const reason = timeout.aborted ? `no answer in ${timeoutMs} ms` : causeOf(cause)
      throw clientError('SIGNER_UNREACHABLE', `${shownUrl(url)} (${reason})`, { cause })
    }
    if (text === undefined)
      throw clientError('SIGNER_FAILED', `its answer has more than ${maxAnswerBytes} bytes`)
    return resultOf(status, text, id)
  }
}

function checkUrl(text: string): void {
  const url = URL.parse(text)
  if (url === null) throw clientError('INVALID_ARGUMENT', 'the URL of the signer is not one')
  const isHere = ['localhost', '[::1]'].includes(url.hostname) || /^127(\.\d+){3}$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHere)) {
    const detail = `${shownUrl(text)}: a signer needs https://, or http:// on this machine`
    throw clientError('INVALID_ARGUMENT', detail)
  }
  if (url.username !== '' || url.password !== '') {
    throw clientError('INVALID_ARGUMENT', 'the URL of the signer has a user or password: use a token')
  }
}

/** Web3Signer answers a call that failed with a status of 400 or more and the error of JSON-RPC. */
function resultOf(status: number, text: string, id: number): unknown {
  const answer = parse(text)
  if (answer?.error !== undefined && answer.error !== null) {
    const { code, message } = answer.error as { code?: unknown; message?: unknown }
    const detail = `${String(message).slice(0, 200)} (${String(code).slice(0, 20)})`
    throw clientError(isRefusal(status, code) ? 'SIGNER_REFUSED' : 'SIGNER_FAILED', detail)
  }
  if (isRefusal(status)) throw clientError('SIGNER_REFUSED', `HTTP ${status}`)
  // What a proxy says whose signer is down.
  if (status >= 502 && status <= 504) throw clientError('SIGNER_UNREACHABLE', `HTTP ${status}`)
  if (status !== 200) throw clientError('SIGNER_FAILED', `HTTP ${status}`)
  if (answer?.id !== id || answer.result === undefined)
    throw clientError('SIGNER_FAILED', 'its answer is no JSON-RPC')
  return answer.result
}

/** 401, 403: a guard said no. 4001: a person did (EIP-1193), as programs answer that stand before wallets. */
const isRefusal = (status: number, code?: unknown): boolean =>
  status === 401 || status === 403 || code === 4001

function parse(text: string): { id?: unknown; error?: unknown; result?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** What `fetch` says is "fetch failed"; why is in its cause. */
function causeOf(error: unknown): string {
  return reasonOf(error instanceof Error && error.cause !== undefined ? error.cause : error)
}
