import { networkLimits } from '@runnel/network'

/** How long a server may take to tell its time, in milliseconds. */
const askTimeoutMs = 5_000

/** Another clock that differs by less may be right: HTTP gives whole seconds, and half the round trip is a guess. */
export const clockToleranceMs = 5_000

/** A clock that differs by more is wrong: half of what nodes allow each other, as the other clock may be wrong the other way. */
export const clockWrongMs = networkLimits.clockToleranceMs / 2

/**
 * How much a server's clock is ahead of this machine's, in milliseconds, give or take a second: by the header Date of its answer (RFC
 * 9110, section 6.6.1). Undefined when it says none, or that is not known. Rejects when it does not answer.
 */
async function clockOffsetMs(url: string, signal: AbortSignal | undefined): Promise<number | undefined> {
  const askedMs = Date.now()
  const told = await dateOf(
    url,
    AbortSignal.any([AbortSignal.timeout(askTimeoutMs), ...(signal ? [signal] : [])]),
  )
  const answeredMs = Date.now()
  // This machine slept meanwhile, or its clock was set: the middle of the two times says nothing.
  if (Math.abs(answeredMs - askedMs) > askTimeoutMs) return undefined
  const date = Date.parse(told ?? '')
  if (Number.isNaN(date)) return undefined
  // Half a second more than it says, on average.
  return date + 500 - (askedMs + answeredMs) / 2
}

/** By HTTP that a node has loaded anyway: `fetch`, or an import of `node:http`, loads what takes another 2 MB. */
function dateOf(url: string, signal: AbortSignal): Promise<string | undefined> {
  // Not from a cache: a POST, which a JSON-RPC server takes and any other refuses.
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  const options = { method: 'POST', headers: { 'content-type': 'application/json' }, signal }
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  return new Promise((resolve, reject) => {
    const asked = request(url, options, (answer) => {
      resolve(answer.headers.date)
      answer.destroy()
    })
    asked.on('error', reject).end(body)
  })
}

/** Such as `3 min behind`, of a clock that another is so much ahead of. */
export function offsetText(offsetMs: number): string {
  const seconds = Math.round(Math.abs(offsetMs) / 1_000)
  const amount = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
  return `${amount} ${offsetMs > 0 ? 'behind' : 'ahead'}`
}

/** What servers told of their time. */
interface MiddleOffset {
  readonly offsetMs: number
  readonly servers: number
  /** Those whose time is about that of this machine. */
  readonly agreeing: number
}

/**
 * The middle of what several servers' clocks are ahead, so that one that is wrong does not count. Of two in the middle
 * that which is nearer to this machine's clock: where two disagree, either may be wrong. Undefined when none told its
 * time, or the signal ends it. Never rejects.
 */
export async function middleOffsetMs(
  urls: readonly string[],
  signal?: AbortSignal,
): Promise<MiddleOffset | undefined> {
  const asked = await Promise.all(urls.map((url) => clockOffsetMs(url, signal).catch(() => undefined)))
  const offsets = asked.filter((offset) => offset !== undefined).toSorted((a, b) => a - b)
  const middle = offsets.slice(Math.ceil(offsets.length / 2) - 1, Math.floor(offsets.length / 2) + 1)
  const [offsetMs] = middle.toSorted((a, b) => Math.abs(a) - Math.abs(b))
  if (offsetMs === undefined) return undefined
  const agreeing = offsets.filter((one) => Math.abs(one) < clockToleranceMs).length
  return { offsetMs, servers: offsets.length, agreeing }
}
