import { createServer } from 'node:net'
import { nodeError } from '../../errors.ts'

/** Throws USAGE where this machine cannot listen on an address, as users will. */
export async function requireListen(host: string): Promise<void> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port: 0, exclusive: true }, resolve)
    })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw nodeError('USAGE', `--listen ${host}: this machine cannot listen there (${code})`, { cause })
  }
  await new Promise((resolve) => server.close(resolve))
}
