/** What a message says that only goes one way. */
export const oneWay = 'one way'

/** Milliseconds by the clock that all processes of a machine share (CLOCK_MONOTONIC). */
export const sharedMs = (): number => Number(process.hrtime.bigint()) / 1e6
