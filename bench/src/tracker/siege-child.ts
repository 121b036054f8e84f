import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { loadCrypto, toStreamId, toStreamPartId, type NodeId } from '@runnel/protocol'
import { answerCalls } from '../child-calls.ts'
import { LightNode } from './light-node.ts'

/** What a network takes at a tracker. */
export interface Siege {
  readonly tracker: { readonly nodeId: NodeId; readonly url: string }
  /** Ids that connect, and come back when they are let go. */
  readonly keys: number
  /** Stream parts of its own that each joins. */
  readonly partsPerKey: number
  /** Handshakes that stay half open, and as many connections that say nothing; opened again when they are closed. */
  readonly sockets: number
}

/** Before what was closed is opened again, in milliseconds. */
const pauseMs = 500
/** Ids that connect and join at once. */
const dialsAtOnce = 16
/** Stream parts that one id joins at once. */
const joinsAtOnce = 20
/** A join that is not answered for so long was refused, in milliseconds. */
const refusedMs = 1_000
/** An id is done by then, in milliseconds. */
const maxJoinMs = 10_000
/** All of 127.0.0.0/8 is this machine (RFC 1122, section 3.2.1.3). */
const addressOf = (n: number) => `127.0.9.${1 + (n % 254)}`

const held = { connected: 0, opened: 0, sockets: 0 }

const calls = {
  /** Resolves when every id has tried once, and goes on for ever. */
  async besiege(siege: Siege): Promise<void> {
    // For ever; an error ends this process, and the parent's next call says so.
    for (let n = 0; n < siege.sockets; n++) {
      void holdSocket(siege, n, false)
      void holdSocket(siege, n, true)
    }
    let next = 0
    const worker = async () => {
      while (next < siege.keys) await holdKey(siege, next++)
    }
    await Promise.all(Array.from({ length: dialsAtOnce }, worker))
  },

  /** What it has now, and how often ids have connected. */
  held: () => held,
}
export type SiegeCalls = typeof calls

answerCalls(calls)

/** Resolves when the id has tried once. */
async function holdKey(siege: Siege, n: number): Promise<void> {
  const node = new LightNode(await loadCrypto(), { localAddress: addressOf(n) })
  const isIn = await node.connect(siege.tracker).then(
    () => true,
    () => false,
  )
  if (isIn) {
    held.opened++
    held.connected++
    void node.whenClosed.then(() => held.connected--)
    await Promise.race([joinAll(siege, n, node), node.whenClosed, delay(maxJoinMs)])
  }
  // Likewise.
  void comeBack(siege, n, node, isIn)
}

/** A few at a time: it is to hold what there is, not to keep the tracker busy. What is refused is never answered. */
async function joinAll(siege: Siege, n: number, node: LightNode): Promise<void> {
  for (let part = 0; part < siege.partsPerKey; part += joinsAtOnce) {
    const count = Math.min(joinsAtOnce, siege.partsPerKey - part)
    const joins = Array.from({ length: count }, (_, i) => node.join(partOf(n, part + i)))
    await Promise.race([Promise.allSettled(joins), delay(refusedMs)])
  }
}

async function comeBack(siege: Siege, n: number, node: LightNode, isIn: boolean): Promise<void> {
  if (isIn) await node.whenClosed
  await node.stop()
  await delay(pauseMs * (1 + Math.random()))
  await holdKey(siege, n)
}

function partOf(key: number, part: number) {
  const streamId = toStreamId(`0x${key.toString(16).padStart(40, '0')}/siege/${Math.floor(part / 100)}`)
  return toStreamPartId(streamId, part % 100)
}

async function holdSocket({ tracker }: Siege, n: number, asksForWebSocket: boolean): Promise<void> {
  const { hostname, port } = new URL(tracker.url)
  for (;;) {
    const socket = connect({ host: hostname, port: Number(port), localAddress: addressOf(n) })
    if (asksForWebSocket) socket.write(upgrade)
    await closed(socket)
    await delay(pauseMs * (1 + Math.random()))
  }
}

const upgrade =
  'GET / HTTP/1.1\r\nHost: tracker\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'

function closed(socket: Socket): Promise<void> {
  let isOpen = false
  socket.once('connect', () => {
    isOpen = true
    held.sockets++
  })
  socket.on('error', () => {})
  socket.resume()
  return new Promise((resolve) => {
    socket.once('close', () => {
      if (isOpen) held.sockets--
      resolve()
    })
  })
}
