import type { CandidateKind, LinkPath } from '../ports.ts'
import type { RtcCandidate } from './peer-connection-port.ts'

/** Longer than any candidate of RFC 8839 in use. */
const maxCandidateChars = 512

const payloadPattern = /^([A-Za-z0-9_.-]{1,32})\n((?:a=)?candidate:[\x20-\x7e]+)$/

/** A candidate in the form in which a signal carries it: `mid\ncandidate`. */
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

const candidateKinds: readonly string[] = ['host', 'srflx', 'prflx', 'relay'] satisfies CandidateKind[]

interface SelectedPair {
  readonly local: { readonly type: string | null }
  readonly remote: { readonly type: string | null }
}

/**
 * The path of the candidate pair that a platform reports as selected; undefined when there is none, it is invalid, or the
 * call throws.
 */
export function pathOf(selectedPair: () => SelectedPair | null | undefined): LinkPath | undefined {
  try {
    const pair = selectedPair()
    if (!pair) return undefined
    const [local, remote] = [pair.local.type, pair.remote.type]
    return isCandidateKind(local) && isCandidateKind(remote) ? { local, remote } : undefined
  } catch {
    // The peer connection is closed, or the platform lacks it.
    return undefined
  }
}

/** The address of the other end in that pair; undefined when it is unknown. */
export function remoteAddressOf(selectedPair: () => RemoteOfPair | null | undefined): string | undefined {
  try {
    return selectedPair()?.remote.address || undefined
  } catch {
    return undefined
  }
}

interface RemoteOfPair {
  readonly remote: { readonly address: string | null }
}

function isCandidateKind(type: string | null): type is CandidateKind {
  return type !== null && candidateKinds.includes(type)
}
