import { syncBuiltinESMExports } from 'node:module'
import promises from 'node:timers/promises'
import { dilatedMs, dilationIn } from './dilation.ts'

/**
 * Makes the clocks and timers of JavaScript slower in the process that loads it first (time dilation: Gupta et al., NSDI 2006). What is native keeps
 * real time, as the retransmission timers of SCTP and TCP do.
 */

const dilation = dilationIn(import.meta.url)
const real = {
  now: Date.now,
  monotonicMs: performance.now.bind(performance),
  monotonicNs: process.hrtime.bigint,
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  delay: promises.setTimeout,
}

Date.now = () => Math.round(dilatedMs(real.now(), dilation))
performance.now = () => real.monotonicMs() / dilation.factor
process.hrtime.bigint = () => BigInt(Math.round(Number(real.monotonicNs()) / dilation.factor))
const slower = <Start extends typeof setTimeout | typeof setInterval>(start: Start): Start => {
  const started = (fn: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    start(fn, ms * dilation.factor, ...args)
  // With what `promisify` needs of them.
  return Object.assign(started, start) as Start
}
globalThis.setTimeout = slower(real.setTimeout)
globalThis.setInterval = slower(real.setInterval)
promises.setTimeout = (ms = 0, ...rest) => real.delay(ms * dilation.factor, ...rest)
syncBuiltinESMExports()
