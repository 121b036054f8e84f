import { clientError } from '@runnel/client'
import { contractsErrors, decodeRegistryError } from '@runnel/contracts'
import { isRunnelError, type RunnelError } from '@runnel/protocol'
import { transportError } from '@runnel/transport'
import { nodeError } from '../errors.ts'
import type { DescribedError } from './error-line.ts'
import { printable } from './printable.ts'
import { withProgram } from './program-name.ts'

/** Converts any error, including those of ethers and the operating system, into one form for display. */
export function describeError(error: unknown): DescribedError {
  const known = findRunnelError(error) ?? describeRegistryRefusal(error) ?? describeForeign(error)
  return {
    code: known.code,
    message: withProgram(printable(oneLine(known.message))),
    remedy: withProgram(known.remedy),
  }
}

function findRunnelError(error: unknown): DescribedError | undefined {
  if (isRunnelError(error)) return error
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const entry = (contractsErrors as Record<string, { remedy: string }>)[error.code]
  return entry && { code: error.code, message: error.message, remedy: entry.remedy }
}

function describeRegistryRefusal(error: unknown): DescribedError | undefined {
  const refusal = decodeRegistryError(error)
  if (!refusal) return undefined
  const name = refusal.name.replace(/^\w+?__/, '')
  const code = name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()
  return { code, message: refusal.hint, remedy: 'Nothing was changed in the registry.' }
}

/** Codes of ethers and the operating system that say a chain does not answer. */
const chainCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'NETWORK_ERROR',
  'SERVER_ERROR',
  'TIMEOUT',
])

/** Calls of the operating system on files that may not be changed. */
const changingCalls = new Set(['mkdir', 'chmod', 'rename', 'unlink', 'rm', 'copyfile', 'utime'])

/** Codes of the operating system that say a file is not this user's to use. */
const isRefusal = (code: string) => ['EACCES', 'EPERM', 'EROFS'].includes(code)

function describeForeign(error: unknown): RunnelError {
  if (!(error instanceof Error)) return nodeError('INTERNAL', String(error))
  const code = 'code' in error ? String(error.code) : ''
  const options = { cause: error }
  if (code === 'EADDRINUSE') return transportError('PORT_IN_USE', addressOf(error), options)
  if (code === 'EACCES' && 'syscall' in error && error.syscall === 'listen') {
    return transportError('LISTEN_FAILED', addressOf(error), options)
  }
  if (error.name === 'ExitPromptError') return nodeError('INTERRUPTED', undefined, options)
  if (code === 'ENOSPC' || code === 'SQLITE_FULL') return nodeError('DISK_FULL', error.message, options)
  if (isRefusal(code) && 'path' in error) {
    const changes = 'syscall' in error && changingCalls.has(String(error.syscall))
    return nodeError(
      changes || code === 'EROFS' ? 'FILE_UNWRITABLE' : 'FILE_UNREADABLE',
      error.message,
      options,
    )
  }
  const text = 'shortMessage' in error ? String(error.shortMessage) : error.message
  if (chainCodes.has(code)) return clientError('CHAIN_UNREACHABLE', text || code, options)
  return nodeError('INTERNAL', text, options)
}

function addressOf(error: Error): string {
  return 'port' in error && 'address' in error ? `${error.address}:${error.port}` : error.message
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').trim()
}
