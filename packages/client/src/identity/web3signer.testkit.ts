import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { getAddress, type Wallet } from 'ethers'
import type { TypedData } from '@runnel/protocol'
import { signTyped } from './wallet.testkit.ts'

export interface TestWeb3Signer {
  readonly url: string
  /** The methods that were asked, in their order. */
  readonly asked: string[]
  chainId: number
  /** Answered instead of what was asked for. */
  instead: ((response: ServerResponse) => void) | undefined
  /** When there, requests need it. */
  token: string | undefined
  stop(): Promise<void>
}

/**
 * A small HTTP server with real keys that answers as Web3Signer does for Ethereum accounts, with its codes: typed data comes as text,
 * transactions must have a nonce, and are signed for the chain of its settings, whatever is asked.
 */
export async function startTestWeb3Signer(
  owners: readonly Wallet[],
  chainId: number,
): Promise<TestWeb3Signer> {
  const server = createServer((request, response) => {
    serve(signer, owners, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const signer: TestWeb3Signer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    chainId,
    instead: undefined,
    token: undefined,
    stop: () => stop(server),
  }
  return signer
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params: unknown[]
}

async function serve(
  signer: TestWeb3Signer,
  owners: readonly Wallet[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { id, method, params } = JSON.parse(await text(request)) as Call
  signer.asked.push(method)
  if (signer.instead) return signer.instead(response)
  if (signer.token !== undefined && request.headers.authorization !== `Bearer ${signer.token}`) {
    response.writeHead(401).end()
    return
  }
  try {
    const result = await resultOf(signer, owners, method, params)
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  } catch (error) {
    const { code, message } = error as RpcError
    response.writeHead(400).end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
  }
}

class RpcError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

async function resultOf(
  signer: TestWeb3Signer,
  owners: readonly Wallet[],
  method: string,
  params: unknown[],
): Promise<unknown> {
  const ownerOf = (address: unknown): Wallet => {
    const owner = owners.find((candidate) => candidate.address === getAddress(String(address)))
    if (owner === undefined) throw new RpcError(-32000, 'From address does not match available account')
    return owner
  }
  switch (method) {
    case 'eth_accounts':
      return owners.map(({ address }) => address.toLowerCase())
    case 'eth_signTypedData': {
      const [address, data] = params
      if (params.length !== 2 || typeof data !== 'string') throw new RpcError(-32602, 'Invalid params')
      return signTyped(ownerOf(address), JSON.parse(data) as TypedData)
    }
    case 'eth_signTransaction': {
      const { from, gas, nonce, ...fields } = params[0] as Record<string, string>
      if (params.length !== 1 || nonce === undefined) throw new RpcError(-32602, 'Invalid params')
      const fees = 'gasPrice' in fields ? { type: 0 } : { type: 2 }
      const chain = { chainId: signer.chainId, nonce: Number(nonce), gasLimit: gas ?? null }
      return ownerOf(from).signTransaction({ ...fields, ...fees, ...chain })
    }
    default:
      throw new RpcError(-32601, 'Method not found')
  }
}
