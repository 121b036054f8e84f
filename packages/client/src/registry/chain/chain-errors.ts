import { decodeRegistryError, RpcError, type RpcSecrets } from '@runnel/contracts'
import { isRunnelError, type RunnelError } from '@runnel/protocol'
import { clientError, reasonOf } from '../../errors.ts'

/** Converts what ethers, or the route to the chain, throws into a client error. Neither it nor its cause contains secrets of the endpoint's URL. */
export function translateChainError(error: unknown, secrets: RpcSecrets): RunnelError {
  if (isRunnelError(error)) return error
  if (error instanceof RpcError) return clientError(error.code, error.message)
  const cause = secrets.scrubError(error)
  const refused = decodeRegistryError(error)
  if (refused !== undefined) return clientError(codeOf(refused.name), refused.hint, { cause })
  const detail = `${secrets.shown} (${reasonOf(cause)})`
  if (isUnreachable(error)) return clientError('CHAIN_UNREACHABLE', detail, { cause })
  return clientError('CHAIN_CALL_FAILED', detail, { cause })
}

function codeOf(name: string): 'STREAM_NOT_FOUND' | 'STREAM_EXISTS' | 'REGISTRY_REFUSED' {
  if (name === 'StreamRegistry__NotFound' || name === 'StorageRegistry__StreamNotFound')
    return 'STREAM_NOT_FOUND'
  if (name === 'StreamRegistry__AlreadyExists') return 'STREAM_EXISTS'
  return 'REGISTRY_REFUSED'
}

const unreachableCodes = new Set(['NETWORK_ERROR', 'SERVER_ERROR', 'TIMEOUT'])

/** An error of ethers' about the way to the endpoint, or of the operating system's about the socket (ECONNREFUSED and such). */
function isUnreachable(error: unknown): boolean {
  // What a browser's fetch rejects with when it got no answer.
  if (error instanceof TypeError && /fetch|network|load failed/i.test(error.message)) return true
  if (!(error instanceof Error) || !('code' in error)) return false
  // A web page, of a proxy or of a provider that rests: whatever its status, the chain has not answered.
  if ('operation' in error && error.operation === 'bodyJson') return true
  const code = String(error.code)
  return unreachableCodes.has(code) || /^E[A-Z_]+$/.test(code)
}
