import { fromBase64Url, limits, toBase64Url } from '@runnel/protocol'

import { transportError } from '../errors.ts'

const fingerprintLine = /^a=fingerprint:sha-256 ((?:[0-9A-F]{2}:){31}[0-9A-F]{2})\s*$/i

/**
 * The SHA-256 fingerprint of the certificate in a description (RFC 8122): 32 bytes.
 * Throws PROTOCOL_VIOLATION unless the description is one of a single data channel with exactly one fingerprint.
 */
export function fingerprintOf(sdp: string): Uint8Array {
  if (sdp.length > limits.maxSignalBytes) throw transportError('PROTOCOL_VIOLATION', 'a description too long')
  const sections = sdp.match(/^m=.*$/gm) ?? []
  if (sections.length !== 1 || !sections[0]?.startsWith('m=application ')) {
    throw transportError('PROTOCOL_VIOLATION', 'a description of something else than one data channel')
  }
  const lines = sdp.match(/^a=fingerprint:.*$/gim) ?? []
  const values = new Set(lines.map((line) => fingerprintLine.exec(line)?.[1]?.toUpperCase()))
  const [value] = values
  if (values.size !== 1 || value === undefined) {
    throw transportError('PROTOCOL_VIOLATION', 'a description without one clear SHA-256 fingerprint')
  }
  return Uint8Array.from(value.split(':'), (hex) => Number.parseInt(hex, 16))
}

/**
 * What ties a handshake to the DTLS session beneath it: both certificates' fingerprints, sorted, so both sides get the same
 * bytes. Somebody in the middle has another certificate on at least one side.
 */
export function channelBinding(localSdp: string, remoteSdp: string): Uint8Array {
  const sorted = [fingerprintOf(localSdp), fingerprintOf(remoteSdp)].sort(compareBytes)
  const binding = new Uint8Array(64)
  sorted.forEach((fingerprint, index) => binding.set(fingerprint, 32 * index))
  return binding
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, index) => byte !== b[index])
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

/**
 * The description with a line that says: this side takes the first data channel as agreed on. Where both say so, no message opens it, and either
 * side may use it as soon as there is an association, half a round trip or a whole one earlier.
 */
export function agreeingOnChannel(sdp: string): string {
  return withLine(sdp, 'channel', 'agreed')
}

/** Whether a description has that line. */
export function agreesOnChannel(sdp: string): boolean {
  return valueOf(sdp, 'channel') === 'agreed'
}

/** The description with a line that says how long signals take from its sender to the tracker, in milliseconds, where that is known. */
export function tellingDelay(sdp: string, delayMs: number | undefined): string {
  return delayMs === undefined ? sdp : withLine(sdp, 'signal-delay', `${Math.ceil(delayMs)}`)
}

/** What that line says, in milliseconds; undefined where there is none, or it says more than ten seconds. */
export function toldDelayMs(sdp: string): number | undefined {
  const text = valueOf(sdp, 'signal-delay')
  return text !== undefined && /^\d{1,4}$/.test(text) ? Number(text) : undefined
}

/**
 * The description with a line that carries the hello of its sender. Where both do, no hello is sent by the channel, and the first frame of either
 * side is its proof. Who carries the signals may change a hello: then the two ends sign different ones, and neither is proven.
 */
export function carryingHello(sdp: string, hello: Uint8Array): string {
  return withLine(sdp, 'hello', toBase64Url(hello))
}

/** The frame with the hello that a description carries; undefined where there is none. */
export function carriedHello(sdp: string): Uint8Array | undefined {
  const text = valueOf(sdp, 'hello')
  return text !== undefined && /^[\w-]+$/.test(text) ? fromBase64Url(text) : undefined
}

/** Whether an answer repeats what this side's offer carried, and adds none: a library may put lines into it that nobody has read. */
export function repeatsHello(sdp: string, hello: Uint8Array): boolean {
  return valueOf(sdp, 'hello') === toBase64Url(hello)
}

/** The description without lines of ours, which the library would repeat in its answer. */
export function withoutOurLines(sdp: string): string {
  return sdp.replace(/^a=runnel-.*\r?\n?/gm, '')
}

type OurLine = 'channel' | 'signal-delay' | 'hello'

/** An attribute of ours, which others ignore (RFC 8866, section 5.13). It is behind all that the library wrote. */
const withLine = (sdp: string, name: OurLine, value: string): string =>
  `${sdp.trimEnd()}\r\na=runnel-${name}:${value}\r\n`

/** What the last line of this name says: those before it may be the other side's own, which a library has repeated. */
function valueOf(sdp: string, name: OurLine): string | undefined {
  const start = `a=runnel-${name}:`
  return sdp
    .split(/\r?\n/)
    .findLast((line) => line.startsWith(start))
    ?.slice(start.length)
}

/**
 * The offer as the answerer should see it: with the offerer as the DTLS client. An answerer left to choose becomes the client,
 * and its first packet leaves before the offerer's ICE has a path for it: in 25–45 % of set-ups it is lost and repeated after a
 * second.
 */
export function withOffererAsDtlsClient(offerSdp: string): string {
  return offerSdp.replace(/^a=setup:actpass(?=\r?$)/gm, 'a=setup:active')
}
