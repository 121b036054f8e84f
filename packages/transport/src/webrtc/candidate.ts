import type { RtcCandidate } from './peer-connection-port.ts'

/** Longer than any candidate of RFC 8839 in use. */
export const maxCandidateChars = 512

const payloadPattern = /^([A-Za-z0-9_.-]{1,32})\n((?:a=)?candidate:[\x20-\x7e]+)$/

/** A candidate as it travels in a signal: `mid\ncandidate`. */
export function encodeCandidate({ mid, candidate }: RtcCandidate): string {
  return `${mid}\n${candidate}`
}

/** Undefined when the payload is no candidate. */
export function decodeCandidate(payload: string): RtcCandidate | undefined {
  if (payload.length > maxCandidateChars) return undefined
  const match = payloadPattern.exec(payload)
  return match?.[1] && match[2] ? { mid: match[1], candidate: match[2] } : undefined
}

/** The fifth field of a candidate (RFC 8839, section 5.1): an IP address, or a name. */
export function addressOf(candidate: string): string {
  return candidate.split(' ')[4] ?? ''
}
