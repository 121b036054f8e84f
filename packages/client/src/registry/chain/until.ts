import { FOREVER } from '@runnel/contracts'

/** Unix seconds of a contract as Unix milliseconds; FOREVER, and what no clock will reach, as Infinity. */
export function toUntilMs(seconds: bigint): number {
  const ms = Number(seconds) * 1000
  return ms <= Number.MAX_SAFE_INTEGER ? ms : Infinity
}

/** Unix milliseconds as whole Unix seconds of a contract, rounded down; Infinity as FOREVER. */
export function toContractSeconds(untilMs: number): bigint {
  return Number.isFinite(untilMs) ? BigInt(Math.floor(untilMs / 1000)) : FOREVER
}
