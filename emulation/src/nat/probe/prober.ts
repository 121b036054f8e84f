import { createSocket, type Socket } from 'node:dgram'
import type { Filtering, Mapping, NatBehaviour } from '../nat-kinds.ts'
import { publicAddresses } from '../laboratory.ts'
import { probePorts, type Corner, type ProbeReply, type ProbeRequest } from './messages.ts'

/** A request is sent again after so long, and given up after so many: then UDP does not pass. */
const resendAfterMs = 250
const maxRequests = 4

const primary: Corner = [0, 0]

/** A socket of this host, and what came to it. */
class Probe {
  readonly #socket: Socket
  readonly #replies = new Map<number, string>()
  #ids = 0
  #onReply = (): void => undefined

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('message', (bytes) => {
      const { id, seen } = JSON.parse(bytes.toString()) as ProbeReply
      this.#replies.set(id, seen)
      this.#onReply()
    })
  }

  static open(address: string): Promise<Probe> {
    const socket = createSocket('udp4')
    return new Promise((resolve) => socket.bind(0, address, () => resolve(new Probe(socket))))
  }

  get port(): number {
    return this.#socket.address().port
  }

  /** Sends a request to one of the sockets, and does not wait. Gives its id. */
  send(to: Corner, from: Corner): number {
    const request: ProbeRequest = { id: ++this.#ids, from }
    this.#socket.send(JSON.stringify(request), probePorts[to[1]], publicAddresses[to[0]])
    return request.id
  }

  /** How a socket sees this one; undefined when no answer comes. */
  async ask(to: Corner): Promise<string | undefined> {
    for (let i = 0; i < maxRequests; i++) {
      const id = this.send(to, to)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, resendAfterMs)
        this.#onReply = () => {
          if (!this.#replies.has(id)) return
          clearTimeout(timer)
          resolve()
        }
      })
      if (this.#replies.has(id)) return this.#replies.get(id)
    }
    return undefined
  }

  /** Whether an answer from elsewhere comes in. Two round trips with the first socket later it has, or it was dropped. */
  async hears(from: Corner): Promise<boolean> {
    const id = this.send(primary, from)
    await this.ask(primary)
    await this.ask(primary)
    return this.#replies.has(id)
  }

  close(): void {
    this.#socket.close()
  }
}

/** RFC 5780, section 4.3: is the mapping another one towards another address and port? */
async function mappingOf(address: string): Promise<Mapping> {
  const probe = await Probe.open(address)
  try {
    const first = await probe.ask(primary)
    if (first === undefined) return 'blocked'
    if (first === `${address}:${probe.port}`) return 'none'
    const seen = new Set([first, await probe.ask([0, 1]), await probe.ask([1, 1])])
    if (seen.size === 1) return 'endpoint-independent'
    if (seen.size === 3 && !seen.has(undefined)) return 'address-and-port-dependent'
    throw new Error(`a mapping of unknown kind: ${[...seen].join(', ')}`)
  } finally {
    probe.close()
  }
}

/** RFC 5780, section 4.4: does an answer come in from another address, or at least from another port? */
async function filteringOf(address: string, mapping: Mapping): Promise<Filtering> {
  if (mapping === 'blocked') return 'blocked'
  const probe = await Probe.open(address)
  try {
    await probe.ask(primary)
    if (await probe.hears([1, 1])) return mapping === 'none' ? 'none' : 'endpoint-independent'
    return (await probe.hears([0, 1])) ? 'address-dependent' : 'address-and-port-dependent'
  } finally {
    probe.close()
  }
}

const [address = ''] = process.argv.slice(2)
const mapping = await mappingOf(address)
const behaviour: NatBehaviour = { mapping, filtering: await filteringOf(address, mapping) }
process.stdout.write(JSON.stringify(behaviour))
