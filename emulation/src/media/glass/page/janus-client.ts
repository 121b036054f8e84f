/// <reference lib="dom" />

/** What a plugin of Janus says, and its end of a connection where there is one. */
export interface JanusEvent {
  readonly data: Readonly<Record<string, unknown>>
  readonly jsep: RTCSessionDescriptionInit | undefined
}

interface JanusMessage {
  readonly janus: string
  readonly transaction?: string
  readonly data?: { readonly id: number }
  readonly plugindata?: { readonly data: Readonly<Record<string, unknown>> }
  readonly jsep?: RTCSessionDescriptionInit
  readonly error?: { readonly reason: string }
}

const keepAliveMs = 20_000

/** A session with Janus by WebSocket, as far as its video rooms need. */
export class JanusClient {
  readonly #socket: WebSocket
  readonly #waiting = new Map<string, PromiseWithResolvers<JanusMessage>>()
  #session: number | undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as JanusMessage))
  }

  static async open(url: string): Promise<JanusClient> {
    const socket = new WebSocket(url, 'janus-protocol')
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve())
      socket.addEventListener('error', () => reject(new Error(`no Janus at ${url}`)))
    })
    const client = new JanusClient(socket)
    client.#session = (await client.#ask({ janus: 'create' })).data?.id
    setInterval(() => client.#say({ janus: 'keepalive' }, crypto.randomUUID()), keepAliveMs)
    return client
  }

  /** Opens a handle at the video rooms, and gives a function that asks there. */
  async attach(): Promise<(body: object, jsep?: RTCSessionDescriptionInit) => Promise<JanusEvent>> {
    const { data } = await this.#ask({ janus: 'attach', plugin: 'janus.plugin.videoroom' })
    return async (body, jsep) => {
      const answer = await this.#ask({ janus: 'message', handle_id: data?.id, body, jsep })
      return { data: answer.plugindata?.data ?? {}, jsep: answer.jsep }
    }
  }

  #ask(message: Readonly<Record<string, unknown>>): Promise<JanusMessage> {
    const transaction = crypto.randomUUID()
    const waiting = Promise.withResolvers<JanusMessage>()
    this.#waiting.set(transaction, waiting)
    this.#say(message, transaction)
    return waiting.promise
  }

  #say(message: Readonly<Record<string, unknown>>, transaction: string): void {
    this.#socket.send(JSON.stringify({ ...message, transaction, session_id: this.#session }))
  }

  #take(message: JanusMessage): void {
    const { janus, transaction = '', error, plugindata } = message
    const waiting = this.#waiting.get(transaction)
    // A message to a plugin is acknowledged first, and answered by an event.
    if (waiting === undefined || janus === 'ack') return
    this.#waiting.delete(transaction)
    const refused = error?.reason ?? plugindata?.data['error']
    if (typeof refused === 'string') waiting.reject(new Error(`Janus: ${refused}`))
    else waiting.resolve(message)
  }
}
