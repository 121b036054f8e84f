import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:dgram'

/** An address and port as STUN has them, for comparing: `192.0.2.1:5000`, `[2001:db8::1]:5000`. */
type Endpoint = string

/** An answer of a STUN server (RFC 8489, RFC 5780). */
export interface StunAnswer {
  /** How the server sees the sender. */
  readonly mapped: Endpoint
  /** The server's other address and port, where it has one. */
  readonly other?: { readonly address: string; readonly port: number }
}

/** From where the server is asked to answer (RFC 5780, section 7.2). */
export interface Change {
  readonly address: boolean
  readonly port: boolean
}

const cookie = 0x2112a442
const bindingRequest = 0x0001
const bindingSuccess = 0x0101
const attributes = { mapped: 0x0001, changeRequest: 0x0003, xorMapped: 0x0020, other: 0x802c } as const
/** A STUN request is sent again after this long. RFC 8489, section 6.2.1, is more patient; somebody waits for this tool. */
const resendAfterMs = 300
/** STUN requests to one server; then it counts as silent. */
const maxRequests = 4

/** Asks a server from this socket; undefined when no answer comes within 1.2 s, or it is at no port that could be asked. */
export async function askStun(
  socket: Socket,
  server: { readonly address: string; readonly port: number },
  change?: Change,
): Promise<StunAnswer | undefined> {
  // A server without another address may name 0.0.0.0:0 as that.
  if (server.port === 0) return undefined
  const id = randomBytes(12)
  const request = requestOf(id, change)
  const { promise, resolve } = Promise.withResolvers<StunAnswer | undefined>()
  const onMessage = (bytes: Buffer): void => {
    const answer = readAnswer(bytes, id)
    if (answer !== undefined) resolve(answer)
  }
  socket.on('message', onMessage)
  let sent = 0
  const send = (): void => {
    if (sent++ === maxRequests) return resolve(undefined)
    socket.send(request, server.port, server.address, () => {})
  }
  const timer = setInterval(send, resendAfterMs)
  send()
  try {
    return await promise
  } finally {
    clearInterval(timer)
    socket.off('message', onMessage)
  }
}

function requestOf(id: Buffer, change: Change | undefined): Buffer {
  const content = change === undefined ? Buffer.alloc(0) : Buffer.alloc(8)
  if (change !== undefined) {
    content.writeUInt16BE(attributes.changeRequest, 0)
    content.writeUInt16BE(4, 2)
    content.writeUInt32BE((change.address ? 4 : 0) + (change.port ? 2 : 0), 4)
  }
  const head = Buffer.alloc(8)
  head.writeUInt16BE(bindingRequest, 0)
  head.writeUInt16BE(content.length, 2)
  head.writeUInt32BE(cookie, 4)
  return Buffer.concat([head, id, content])
}

/** Undefined when it is not the answer to this request. */
function readAnswer(bytes: Buffer, id: Buffer): StunAnswer | undefined {
  if (bytes.length < 20 || bytes.readUInt16BE(0) !== bindingSuccess || !bytes.subarray(8, 20).equals(id))
    return undefined
  let mapped: Endpoint | undefined
  let other: StunAnswer['other']
  for (let at = 20; at + 4 <= bytes.length;) {
    const [type, length] = [bytes.readUInt16BE(at), bytes.readUInt16BE(at + 2)]
    const value = bytes.subarray(at + 4, at + 4 + length)
    if (type === attributes.xorMapped) mapped = endpointOf(readAddress(value, bytes.subarray(4, 20)))
    if (type === attributes.mapped) mapped ??= endpointOf(readAddress(value))
    if (type === attributes.other) other = readAddress(value)
    at += 4 + length + (-length & 3)
  }
  return mapped === undefined ? undefined : { mapped, ...(other === undefined ? {} : { other }) }
}

/** RFC 8489, sections 14.1 and 14.2: an address, or one that is mixed with the cookie and the id of the request. */
function readAddress(
  value: Buffer,
  mask: Buffer = Buffer.alloc(16),
): { readonly address: string; readonly port: number } | undefined {
  const length = value[1] === 2 ? 16 : 4
  if (value.length < 4 + length) return undefined
  const port = value.readUInt16BE(2) ^ mask.readUInt16BE(0)
  const bytes = Array.from(value.subarray(4, 4 + length), (byte, index) => byte ^ (mask[index] ?? 0))
  if (length === 4) return { address: bytes.join('.'), port }
  const words = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  )
  return { address: new URL(`http://[${words.join(':')}]`).hostname.slice(1, -1), port }
}

function endpointOf(
  found: { readonly address: string; readonly port: number } | undefined,
): Endpoint | undefined {
  if (found === undefined) return undefined
  const host = found.address.includes(':') ? `[${found.address}]` : found.address
  return `${host}:${found.port}`
}
