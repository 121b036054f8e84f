import { Malformed, type Decode } from './decode.ts'
import { Failure } from './failure.ts'

/** Bytes of one answer. */
const maxAnswerBytes = 8 * 1024 * 1024
/** How long a tracker may take to answer. */
const answerTimeoutMs = 8_000

/** Asks for JSON and takes it apart. Throws Failure, or the reason of `signal`. */
export async function fetchJson<T>(url: string, decode: Decode<T>, signal: AbortSignal): Promise<T> {
  const { host } = new URL(url)
  const response = await ask(url, host, signal)
  const body = await boundedText(response, host, signal)
  if (!response.ok) throw refusal(response.status, codeOf(body), host)
  try {
    return decode(JSON.parse(body))
  } catch (cause) {
    if (cause instanceof Malformed || cause instanceof SyntaxError)
      throw new Failure('MALFORMED', host, cause.message, { cause })
    throw cause
  }
}

async function ask(url: string, host: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
      credentials: 'omit',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    })
  } catch (cause) {
    throw failed(cause, host, signal)
  }
}

async function boundedText(response: Response, host: string, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      bytes += read.value.length
      if (bytes > maxAnswerBytes) break
      text += decoder.decode(read.value, { stream: true })
    }
  } catch (cause) {
    throw failed(cause, host, signal)
  }
  if (bytes <= maxAnswerBytes) return text + decoder.decode()
  await reader.cancel()
  throw new Failure('TOO_LARGE', host)
}

function failed(cause: unknown, host: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (navigator.onLine === false) return new Failure('OFFLINE', host, '', { cause })
  const isLate = cause instanceof DOMException && cause.name === 'TimeoutError'
  return new Failure(isLate ? 'TIMEOUT' : 'UNREACHABLE', host, '', { cause })
}

/** The code of an error answer, where there is one. */
function codeOf(body: string): unknown {
  try {
    const answer: unknown = JSON.parse(body)
    return typeof answer === 'object' && answer !== null && 'code' in answer ? answer.code : undefined
  } catch {
    return undefined
  }
}

function refusal(status: number, code: unknown, host: string): Failure {
  if (code === 'STREAM_PART_UNKNOWN') return new Failure('UNKNOWN_STREAM_PART', host)
  if (status === 404) return new Failure('NOT_FOUND', host)
  return new Failure(status === 429 || status === 503 ? 'BUSY' : 'REFUSED', host)
}
