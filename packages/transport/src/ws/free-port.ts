import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { listen } from './listen.ts'

/**
 * Above the ports that need privileges, below 30300 of trackers, and below those that a system gives to outgoing connections
 * (RFC 6335: from 49152; Linux: from 32768): a port of theirs may be given away before it is listened on.
 */
const [firstPort, endPort] = [10_000, 30_000]
const lastTry = 100

/**
 * A port of 127.0.0.1 on which nobody listens, for a server whose address has to be known before it starts. Throws the error
 * of the last try (PORT_IN_USE, LISTEN_FAILED) when a hundred ports cannot be listened on.
 */
export async function freePort(draw = () => randomInt(firstPort, endPort)): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = draw()
    const server = createServer()
    try {
      await listen(server, '127.0.0.1', port)
    } catch (error) {
      if (tries === lastTry) throw error
      continue
    }
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}
