import { createServer } from 'node:net'
import { failure, ok, type Finding } from './finding.ts'

/** An address a server of the node is to listen on. */
export interface ListenAddress {
  /** The setting that says so. */
  readonly setting: 'websocket' | 'tcp' | 'http'
  readonly host: string
  readonly port: number
}

const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Stop the other program (ss -ltnp shows which), or choose another port.',
  EADDRNOTAVAIL: 'This machine has no such address: listen on 0.0.0.0, or on one that ip addr shows.',
  EACCES: 'Ports below 1024 need privileges: choose a higher port, behind a proxy if it must be 443.',
  EMFILE: 'Allow more open files: ulimit -n, or LimitNOFILE of the service.',
  ENOTFOUND: 'Give an IP address of this machine.',
}

/** Whether the node can listen where its configuration says, or does. */
export async function checkPort(
  { setting, host, port }: ListenAddress,
  isRunning: boolean,
): Promise<Finding> {
  const [check, place] = [`port ${setting}`, `${host}:${port}`]
  const code = await tryToListen(host, port)
  if (code === undefined) return ok(check, port === 0 ? `${host}, any free port` : `${place} is free`)
  if (code === 'EADDRINUSE' && isRunning) return ok(check, `${place} is in use, and this node is running`)
  const remedy = remedies[code] ?? `Correct ${setting}.host and ${setting}.port.`
  return failure(check, `${place} cannot be listened on (${code})`, remedy)
}

/** Undefined when it worked; else the code of the operating system's error. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  return promise
}
