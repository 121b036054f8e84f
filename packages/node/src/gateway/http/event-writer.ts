import type { ServerResponse } from 'node:http'
import type { Cancel, Clock } from '@runnel/protocol'
import { gatewayLimits } from '../limits.ts'

/** What an event stream is answered with. */
export const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies such as nginx would collect events otherwise.
  'x-accel-buffering': 'no',
}

/** How soon a reader should reconnect. */
const retryMs = 1_000

/**
 * Writes server-sent events (WHATWG HTML, 9.2), and says something now and then, so that proxies keep the connection. A reader that takes
 * nothing for too long is hung up on.
 */
export class EventWriter {
  readonly #response: ServerResponse
  readonly #clock: Pick<Clock, 'schedule'>
  readonly #opened = Promise.withResolvers<void>()
  #isOpen = false
  #cancelHeartbeat: Cancel = () => {}

  constructor(response: ServerResponse, clock: Pick<Clock, 'schedule'>) {
    this.#response = response
    this.#clock = clock
  }

  /** Answers with a cursor to go on from, before any message. */
  open(headers: Readonly<Record<string, string>>, cursor: string | undefined): void {
    this.#response.writeHead(200, { ...headers, ...eventHeaders })
    this.#response.write(`retry: ${retryMs}\n${cursor === undefined ? '' : `id: ${cursor}\n`}\n`)
    this.#isOpen = true
    this.#opened.resolve()
    this.#beat()
  }

  /** One event of one line of data. Resolves when there is room for the next; undefined when there is. */
  write(event: string | undefined, data: string, id?: string): Promise<void> | undefined {
    const text = `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`
    if (!this.#isOpen) return this.#opened.promise.then(() => this.#put(text))
    return this.#put(text)
  }

  end(): void {
    this.#cancelHeartbeat()
    // Without events there is nothing to end: the reader tries again.
    if (this.#isOpen) this.#response.end()
    else this.#response.destroy()
    this.#opened.resolve()
  }

  #put(text: string): Promise<void> | undefined {
    if (this.#response.destroyed || this.#response.writableEnded || this.#response.write(text))
      return undefined
    return new Promise((resolve) => {
      const done = () => {
        cancel()
        this.#response.off('drain', done)
        this.#response.off('close', done)
        resolve()
      }
      const cancel = this.#clock.schedule(gatewayLimits.idleMs, () => this.#response.destroy())
      this.#response.once('drain', done)
      this.#response.once('close', done)
    })
  }

  #beat(): void {
    this.#cancelHeartbeat = this.#clock.schedule(gatewayLimits.heartbeatMs, () => {
      if (!this.#response.writableNeedDrain) this.#response.write(':\n\n')
      this.#beat()
    })
  }
}
