import { connect, type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt'

/** A message as MQTT.js hands it over. */
export type Received = IPublishPacket & { readonly payload: Buffer }

/** An MQTT.js client that keeps what it gets until it is taken. */
export class JsClient {
  readonly client: MqttClient
  /** Whether the gateway knew it. */
  isSessionPresent = false
  readonly #received: Received[] = []
  #wake = () => {}

  constructor(client: MqttClient) {
    this.client = client
    client.on('message', (_topic, _payload, packet) => {
      this.#received.push(packet as Received)
      this.#wake()
    })
  }

  /** The next so many messages. */
  async take(count: number): Promise<Received[]> {
    while (this.#received.length < count) await new Promise<void>((more) => (this.#wake = more))
    return this.#received.splice(0, count)
  }

  /** The same as texts. */
  async texts(count: number): Promise<string[]> {
    return (await this.take(count)).map(({ payload }) => payload.toString())
  }

  /** Ends without DISCONNECT. */
  async cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.client.on('close', resolve))
    this.client.stream.destroy()
    await closed
    await this.client.endAsync(true)
  }
}

/** Connects, once. Rejects with what the gateway says. */
export async function connectJs(
  url: string,
  password: string,
  options: IClientOptions = {},
): Promise<JsClient> {
  const client = connect(url, { username: 'owner', password, reconnectPeriod: 0, ...options })
  const js = new JsClient(client)
  await new Promise<void>((resolve, reject) => {
    client.on('connect', ({ sessionPresent }) => {
      js.isSessionPresent = sessionPresent
      resolve()
    })
    client.on('error', reject)
  })
  return js
}
