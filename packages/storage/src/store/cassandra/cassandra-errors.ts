import type { errors } from 'cassandra-driver'
import { isRunnelError } from '@runnel/protocol'
import { storageError } from '../../errors.ts'

/** What the driver throws, as an error of the store. Whatever it is, the cluster may answer again later. */
export function toStoreError(error: unknown, location: string): Error {
  if (isRunnelError(error)) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  const isOverloaded = error instanceof Error && error.name === 'BusyConnectionError'
  return storageError(
    isOverloaded ? 'STORE_OVERLOADED' : 'STORE_UNAVAILABLE',
    `${location}: ${reasonOf(cause)}`,
    {
      cause,
    },
  )
}

/** Of "no host available", what the first of them said. */
function reasonOf(error: Error): string {
  if (error.name !== 'NoHostAvailableError') return error.message
  const { innerErrors } = error as errors.NoHostAvailableError
  const [first] = Object.entries(innerErrors as Readonly<Record<string, unknown>>)
  if (first === undefined) return error.message
  const [host, inner] = first
  return `${host}: ${inner instanceof Error ? inner.message : String(inner)}`
}
