import { once } from 'node:events'
import { Agent, get, request, type IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import type { GatewayBenchNetwork } from './gateway-network.ts'

/** One way from a program to another through the same overlay. */
export interface Path {
  /** Publishes a number. */
  send(n: number): Promise<unknown>
  /** Publishes many, as fast as it can. */
  sendMany(numbers: readonly number[]): Promise<unknown>
  stop(): Promise<unknown>
}

type OnNumber = (n: number) => void

/** The SDK alone, at both ends. */
export async function sdkPath({ brokers, streamId }: GatewayBenchNetwork, onNumber: OnNumber): Promise<Path> {
  const [from, to] = brokers
  const subscription = await to.client.subscribe<number>(streamId, {}, ({ content }) => onNumber(content))
  return {
    send: (n) => from.client.publish(streamId, n),
    sendMany: (numbers) => from.client.publishMany(streamId, numbers),
    stop: () => subscription.unsubscribe(),
  }
}

/** POST at one gateway, server-sent events at the other. */
export async function httpPath(
  { urls, streamId, key }: GatewayBenchNetwork,
  onNumber: OnNumber,
): Promise<Path> {
  const agent = new Agent({ keepAlive: true })
  const headers = { authorization: `Bearer ${key}` }
  const path = `/v1/streams/${encodeURIComponent(streamId)}`
  const reading = get(`${urls[1]}${path}/events`, { headers, agent: false })
  const [events] = (await once(reading, 'response')) as [IncomingMessage]
  let text = ''
  events.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const end = text.lastIndexOf('\n\n')
    for (const line of text.slice(0, Math.max(end, 0)).split('\n'))
      if (line.startsWith('data: ')) onNumber((JSON.parse(line.slice(6)) as { content: number }).content)
    if (end >= 0) text = text.slice(end + 2)
  })
  const post = async (type: string, body: string) => {
    const sending = request(`${urls[0]}${path}/messages`, {
      ...{ method: 'POST', agent },
      headers: { ...headers, 'content-type': type, 'content-length': Buffer.byteLength(body) },
    })
    sending.end(body)
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    answer.resume()
    await once(answer, 'end')
    if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`)
  }
  return {
    send: (n) => post('application/json', String(n)),
    sendMany: (numbers) => post('application/x-ndjson', numbers.join('\n')),
    stop: async () => {
      reading.destroy()
      agent.destroy()
    },
  }
}

/** A WebSocket at each gateway. */
export async function webSocketPath(
  { urls, streamId, key }: GatewayBenchNetwork,
  onNumber: OnNumber,
): Promise<Path> {
  const open = async (url: string) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, {
      headers: { authorization: `Bearer ${key}` },
    })
    await once(socket, 'open')
    return socket
  }
  const [from, to] = [await open(urls[0]), await open(urls[1])]
  const published = new Map<number, () => void>()
  from.on('message', (data: Buffer) => {
    const { id, code } = JSON.parse(data.toString('utf8')) as { id: number; code?: string }
    if (code !== undefined) throw new Error(code)
    published.get(id)?.()
    published.delete(id)
  })
  const subscribed = once(to, 'message')
  to.send(JSON.stringify({ op: 'subscribe', id: 0, stream: streamId }))
  await subscribed
  to.on('message', (data: Buffer) => {
    onNumber((JSON.parse(data.toString('utf8')) as { message: { content: number } }).message.content)
  })
  const send = (n: number) =>
    new Promise<void>((resolve) => {
      published.set(n, resolve)
      from.send(JSON.stringify({ op: 'publish', id: n, stream: streamId, content: n }))
    })
  return {
    send,
    sendMany: (numbers) => Promise.all(numbers.map(send)),
    stop: async () => {
      from.close()
      to.close()
    },
  }
}
