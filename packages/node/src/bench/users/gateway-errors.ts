import type { RunnelError } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'

/** Nothing that speaks its protocol answers there. */
export function gatewayUnreachable(url: string, cause: unknown): RunnelError {
  return nodeError('BENCH_GATEWAY_UNREACHABLE', `${placeOf(url)}: ${reasonOf(cause)}`, { cause })
}

/** It answers that it does not let this user in, or does not take its message. */
export function gatewayRefused(url: string, cause: unknown): RunnelError {
  return nodeError('BENCH_GATEWAY_REFUSED', `${placeOf(url)}: ${reasonOf(cause).slice(0, 200)}`, { cause })
}

/** Without a user, password or token that a URL may contain. */
function placeOf(url: string): string {
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}

/** `fetch` hides the reason in its cause; that of a name with several addresses is but a code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  return error.message || String('code' in error ? error.code : error.name)
}
