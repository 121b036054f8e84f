import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { challengeFrame, circuitFrame, readWaitingFrame, waitingFrame } from './waiting-frames.ts'

/** A carrier of a stranger: believes every claim, and may change what it carries. */
export class LyingCarrier {
  /** What the dialler sends, as it is passed on. */
  change: (frame: Buffer, index: number) => Buffer = (frame) => frame
  readonly seen: Buffer[] = []
  readonly #server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  #waiting: WebSocket | undefined

  async start(): Promise<this> {
    this.#server.on('connection', (socket, { url = '' }) => {
      socket.on('error', () => {})
      if (url.endsWith('/wait')) this.#wait(socket)
      else this.#join(socket)
    })
    await once(this.#server, 'listening')
    return this
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    for (const client of this.#server.clients) client.terminate()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #wait(socket: WebSocket): void {
    this.#waiting ??= socket
    socket.send(challengeFrame(new Uint8Array(32)))
    socket.once('message', (frame: Buffer) => {
      if (readWaitingFrame(frame)?.type === 'claim') socket.send(waitingFrame)
    })
  }

  #join(dialler: WebSocket): void {
    const node = this.#waiting
    const early: Buffer[] = []
    dialler.on('message', (frame: Buffer) => early.push(frame))
    node?.send(circuitFrame)
    node?.once('message', () => {
      let index = 0
      const pass = (frame: Buffer): void => {
        this.seen.push(frame)
        node.send(this.change(frame, index++))
      }
      dialler.removeAllListeners('message')
      for (const frame of early) pass(frame)
      dialler.on('message', pass)
      node.on('message', (frame: Buffer) => dialler.send(frame))
      node.once('close', () => dialler.close())
    })
  }
}
