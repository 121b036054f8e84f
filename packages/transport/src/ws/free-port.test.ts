import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { freePort } from './free-port.ts'
import { listen } from './listen.ts'

it('is none that outgoing connections are given, and can be listened on', async () => {
  const port = await freePort()
  expect(port).toBeLessThan(32_768)
  const server = createServer()
  await listen(server, '127.0.0.1', port)
  const other = await freePort()
  const draws = [port, port, other]
  expect(await freePort(() => draws.shift() ?? port)).toBe(other)
  await expect(freePort(() => port)).rejects.toMatchObject({ code: 'PORT_IN_USE' })
  await new Promise((resolve) => server.close(resolve))
})
