import { once } from 'node:events'
import type { Server } from 'node:net'
import { transportError } from '../errors.ts'

/** Resolves when the server listens. Throws PORT_IN_USE and LISTEN_FAILED. */
export async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (cause) {
    const where = `${host}:${port}`
    const { code, message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {}
    if (code === 'EADDRINUSE') throw transportError('PORT_IN_USE', where, { cause })
    throw transportError('LISTEN_FAILED', `${where}: ${message ?? String(cause)}`, { cause })
  }
}
