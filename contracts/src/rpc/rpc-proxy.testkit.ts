import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A request or an answer of JSON-RPC. */
interface Rpc {
  readonly id?: unknown
  readonly method?: string
  readonly params?: readonly unknown[]
  readonly result?: unknown
}

/** An endpoint before a chain, which does as it is told. */
export interface RpcProxy {
  /** With a key in its path, as those of providers have. */
  readonly url: string
  /** Undefined: it answers; 'dead' ends connections, 'mute' never answers, 'page' answers with a web page, 'single' refuses batches. */
  mood: 'dead' | 'mute' | 'page' | 'single' | undefined
  /** The newest block that it admits to; events of later ones are left out. */
  maxBlock: number
  /** What it makes of the chain's answer. */
  lie: (asked: Rpc, answer: Rpc) => Rpc
  /** What it holds answers back for that it has; undefined: for nothing. */
  held: Promise<void> | undefined
  /** Answers that it holds back. */
  holds: number
  /** Requests so far, by method. */
  readonly asked: Map<string, number>
  stop(): Promise<void>
}

export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const headers = { 'content-type': 'application/json' }
  const forward = async (asked: readonly Rpc[]): Promise<Rpc[]> => {
    const behind = asked.map((one) => atMost(one, proxy.maxBlock))
    const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(behind) })
    const answers = (await response.json()) as Rpc[]
    return asked.map((one, i) => proxy.lie(one, lagging(one, answers[i] ?? {}, proxy.maxBlock)))
  }
  const server = createServer((request, response) => {
    const body = json(request)
    if (proxy.mood === 'dead') return request.socket.destroy()
    if (proxy.mood === 'mute') return
    if (proxy.mood === 'page') return response.end('<html>Back soon</html>')
    void body.then(async (asked) => {
      const list = Array.isArray(asked) ? (asked as Rpc[]) : [asked as Rpc]
      for (const { method = '' } of list) proxy.asked.set(method, (proxy.asked.get(method) ?? 0) + 1)
      if (proxy.mood === 'single' && Array.isArray(asked))
        return response.end(JSON.stringify({ id: null, error: { code: -32_600, message: 'no batches' } }))
      const { held } = proxy
      const answers = await forward(list)
      proxy.holds++
      await held
      proxy.holds--
      response.writeHead(200, headers).end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3/secret-key`,
    mood: undefined,
    maxBlock: Infinity,
    held: undefined,
    holds: 0,
    lie: (_, answer) => answer,
    asked: new Map(),
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return proxy
}

/** What is asked of the newest block is asked of the newest that it admits to. */
function atMost(asked: Rpc, maxBlock: number): Rpc {
  if (!Number.isFinite(maxBlock)) return asked
  return { ...asked, params: (asked.params ?? []).map((one) => (one === 'latest' ? hex(maxBlock) : one)) }
}

function lagging({ method }: Rpc, answer: Rpc, maxBlock: number): Rpc {
  const { result } = answer
  if (method === 'eth_blockNumber' && Number(result) > maxBlock) return { ...answer, result: hex(maxBlock) }
  if (typeof result !== 'object' || result === null || !Number.isFinite(maxBlock)) return answer
  const isKnown = (one: unknown) => Number(Reflect.get(Object(one), 'blockNumber') ?? 0) <= maxBlock
  if (Array.isArray(result)) return { ...answer, result: result.filter(isKnown) }
  return isKnown(result) ? answer : { ...answer, result: null }
}

const hex = (block: number) => `0x${block.toString(16)}`
