import { createServer, type AddressInfo } from 'node:net'

/** A port of this machine that nobody uses now. Others may take it before it is used; what uses it then says so. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
