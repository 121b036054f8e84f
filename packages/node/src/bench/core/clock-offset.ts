/** One exchange of times: the driver asked, the worker looked at its clock, the answer came. */
export interface ClockExchange {
  readonly askedMs: number
  readonly workerMs: number
  readonly answeredMs: number
}

/** How far a worker's clock is from the driver's. */
export interface ClockDistance {
  /** To be added to the worker's clock to get the driver's. */
  readonly offsetMs: number
  /** How far that may be off: half the round trip. */
  readonly errorMs: number
}

/** From the exchange with the shortest round trip, which leaves the least to be unsure of. */
export function clockDistance(exchanges: readonly ClockExchange[]): ClockDistance {
  const distances = exchanges.map(({ askedMs, workerMs, answeredMs }) => ({
    offsetMs: (askedMs + answeredMs) / 2 - workerMs,
    errorMs: (answeredMs - askedMs) / 2,
  }))
  const [best = { offsetMs: 0, errorMs: Infinity }] = distances.toSorted((a, b) => a.errorMs - b.errorMs)
  return best
}
