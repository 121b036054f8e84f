import type { UnsentTransaction } from './signer.ts'

/** A number as JSON-RPC of Ethereum writes it. */
export const quantity = (value: number | bigint): string => `0x${value.toString(16)}`

/** True for bytes as JSON-RPC of Ethereum writes them, at least one. */
export function isHex(value: unknown): value is string {
  return typeof value === 'string' && /^0x([0-9a-fA-F]{2})+$/.test(value)
}

/** An address of an account. */
export function isAddress(value: unknown): value is string {
  return isHex(value) && value.length === 42
}

/** A transaction as `eth_signTransaction` and `eth_sendTransaction` take it. */
export function rpcTransaction(
  { to, data, nonce, gasLimit, fees }: UnsentTransaction,
  from: string,
): Record<string, string> {
  const prices = Object.entries(fees).map(([name, wei]: [string, bigint]) => [name, quantity(wei)])
  return {
    ...{ from, to, data, nonce: quantity(nonce), gas: quantity(gasLimit), value: '0x0' },
    ...Object.fromEntries(prices),
  }
}
