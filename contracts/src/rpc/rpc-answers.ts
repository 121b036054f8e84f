import type { JsonRpcError, JsonRpcPayload, JsonRpcResult } from '@runnel/contracts/ethers'

export type RpcAnswer = JsonRpcResult | JsonRpcError

/**
 * What is made of a method's answers where several endpoints are asked: `send` goes to one; `found` is there as soon as somebody has it;
 * an `estimate` is each endpoint's own view; all others are read at one block.
 */
export type RpcKind = 'send' | 'found' | 'estimate' | 'read'

const kinds: Readonly<Record<string, RpcKind>> = {
  eth_sendRawTransaction: 'send',
  eth_getTransactionReceipt: 'found',
  eth_getTransactionByHash: 'found',
  eth_getTransactionCount: 'estimate',
  eth_estimateGas: 'estimate',
  eth_gasPrice: 'estimate',
  eth_maxPriorityFeePerGas: 'estimate',
}

export function kindOf({ method }: Pick<JsonRpcPayload, 'method'>): RpcKind {
  return kinds[method] ?? 'read'
}

/** The request at a block, where it asks for the newest one. */
export function pinned(payload: JsonRpcPayload, block: number): JsonRpcPayload {
  if (!Array.isArray(payload.params)) return payload
  const params = payload.params.map((value: unknown) => (value === 'latest' ? hexOf(block) : value))
  return { ...payload, params }
}

export const hexOf = (block: number) => `0x${block.toString(16)}`

/** Fields that all endpoints give alike; others depend on the program that runs there. */
const comparedFields: Readonly<Record<string, readonly string[]>> = {
  eth_getBlockByNumber: ['number', 'hash', 'parentHash', 'timestamp', 'baseFeePerGas'],
  eth_getLogs: ['address', 'topics', 'data', 'blockNumber', 'blockHash', 'transactionHash', 'logIndex'],
  eth_getTransactionReceipt: ['transactionHash', 'blockNumber', 'blockHash', 'status'],
  eth_getTransactionByHash: ['hash', 'blockHash'],
}

/**
 * By what an answer is compared with those of other endpoints. Undefined for errors of the endpoint itself, which say nothing about the
 * chain; a revert is an answer of the contract.
 */
export function comparable(
  { method }: Pick<JsonRpcPayload, 'method'>,
  answer: RpcAnswer,
): string | undefined {
  if ('error' in answer) return isRevert(answer.error) ? `revert ${revertData(answer.error)}` : undefined
  const fields = comparedFields[method]
  const result: unknown = answer.result
  const compared = fields === undefined ? result : picked(result, fields)
  return JSON.stringify(compared ?? null).toLowerCase()
}

function picked(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => picked(one, fields))
  if (typeof value !== 'object' || value === null) return value
  return fields.map((field) => (Reflect.get(value, field) as unknown) ?? null)
}

/** EIP-1474: resource unavailable, method not supported, limit exceeded; JSON-RPC: method not found; and what some say of too many requests. */
const codesOfEndpoints = new Set([-32_002, -32_004, -32_005, -32_601, 429])

/** Whether an endpoint refuses for its own reasons, which another one may not have. */
export const isOfEndpoint = ({ error }: JsonRpcError): boolean => codesOfEndpoints.has(error.code)

function isRevert({ code, message }: JsonRpcError['error']): boolean {
  return code === 3 || /revert/i.test(message ?? '')
}

/** Endpoints put it at different depths. */
function revertData({ data }: JsonRpcError['error']): string {
  if (typeof data === 'string') return data
  const inner: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'data') : undefined
  return typeof inner === 'string' ? inner : ''
}

/** A non-negative whole number, as JSON-RPC has it; undefined when it is anything else. */
export function quantityOf(answer: RpcAnswer | undefined): number | undefined {
  if (answer === undefined || 'error' in answer) return undefined
  const value = typeof answer.result === 'string' ? Number(answer.result) : NaN
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** The largest value that `count` of them reach; undefined when they are fewer. */
export function reachedBy(count: number, values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => b - a)[count - 1]
}
