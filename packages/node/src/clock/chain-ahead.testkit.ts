import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A network whose chain has a clock that is ahead of this machine's by `offsetMs`, until it is set to something else; undefined: it does not answer. */
export async function chainAhead(offsetMs: number) {
  const ahead: { ms: number | undefined; onAsked: () => void } = { ms: offsetMs, onAsked: () => {} }
  const server = createServer((_, response) => {
    ahead.onAsked()
    if (ahead.ms === undefined) return void response.destroy()
    response.setHeader('date', new Date(Date.now() + ahead.ms).toUTCString()).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = `0x${'1'.repeat(40)}`
  const registries = { trackerRegistry: address, streamRegistry: address, storageRegistry: address }
  const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { network: { kind: 'chain' as const, rpcUrl, registries }, ahead }
}
