import { connect } from 'node:net'

/** What came of pinging one address. */
export interface PingResult {
  readonly target: string
  /** Round-trip times of the answered pings, in milliseconds. */
  readonly rttsMs: readonly number[]
  readonly failed: number
}

export interface PingOptions {
  /** For each target. */
  readonly count: number
  readonly timeoutMs: number
  /** Targets at a time. */
  readonly concurrency: number
}

/**
 * Round-trip times to addresses `host:port`, as the time that TCP takes to connect: one round trip, which the other side's
 * kernel answers, whether anything listens there or not. Needs no rights, as ICMP would. One that takes a second or more
 * may be the second try of a lost one.
 */
export async function ping(
  targets: readonly string[],
  { count, timeoutMs, concurrency }: PingOptions,
): Promise<PingResult[]> {
  const results: PingResult[] = []
  const waiting = targets.map((target, at) => ({ target, at }))
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const rttsMs: number[] = []
      for (let i = 0; i < count; i++) {
        const rttMs = await connectMs(next.target, timeoutMs)
        if (rttMs !== undefined) rttsMs.push(rttMs)
      }
      results[next.at] = { target: next.target, rttsMs, failed: count - rttsMs.length }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, targets.length) }, worker))
  return results
}

/** Undefined without an answer. */
function connectMs(target: string, timeoutMs: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const colon = target.lastIndexOf(':')
  const startedMs = performance.now()
  const port = Number(target.slice(colon + 1))
  if (!(port > 0 && port <= 65_535)) return Promise.resolve(undefined)
  const socket = connect({ host: target.slice(0, colon), port })
  const finish = (rttMs: number | undefined) => {
    socket.destroy()
    resolve(rttMs)
  }
  socket.setTimeout(timeoutMs, () => finish(undefined))
  socket.once('connect', () => finish(performance.now() - startedMs))
  // A refusal has come the whole way, too.
  socket.once('error', (error: NodeJS.ErrnoException) =>
    finish(error.code === 'ECONNREFUSED' ? performance.now() - startedMs : undefined),
  )
  return promise
}
