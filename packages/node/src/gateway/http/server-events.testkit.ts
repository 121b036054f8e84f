import { get, type ClientRequest, type IncomingMessage } from 'node:http'

export interface ServerEvent {
  readonly event: string
  readonly id: string | undefined
  readonly message: { readonly content: unknown } | undefined
}

/** Reads server-sent events over a connection of its own, and remembers the last id as a browser does. */
export class ServerEvents {
  lastId: string | undefined
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  #request: ClientRequest | undefined
  #events: AsyncGenerator<ServerEvent> | undefined

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url
    this.#headers = headers
  }

  /** Resolves when the answer has begun. */
  async connect(): Promise<void> {
    const resume = this.lastId === undefined ? {} : { 'last-event-id': this.lastId }
    const events = this.#read({ ...this.#headers, ...resume })
    this.#events = events
    await events.next()
  }

  async next(): Promise<ServerEvent> {
    const next = await this.#events?.next()
    if (next === undefined || next.done === true) throw new Error('the events have ended')
    return next.value
  }

  drop(): void {
    this.#request?.destroy()
  }

  async *#read(headers: Readonly<Record<string, string>>): AsyncGenerator<ServerEvent> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      this.#request = get(this.#url, { headers, agent: false }, resolve).on('error', reject)
    })
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`)
    let text = ''
    response.setEncoding('utf8')
    for await (const chunk of response as AsyncIterable<string>) {
      text += chunk
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        const fields = new Map(block.split('\n').map((line) => [line.split(': ')[0] ?? '', line.slice(line.indexOf(': ') + 2)] as const)) // prettier-ignore
        const id = fields.get('id')
        if (id !== undefined) this.lastId = id
        const data = fields.get('data')
        if (data === undefined && !fields.has('retry')) continue
        const message = data === undefined ? undefined : (JSON.parse(data) as { content: unknown })
        yield { event: fields.get('event') ?? 'message', id, message }
      }
    }
  }
}
