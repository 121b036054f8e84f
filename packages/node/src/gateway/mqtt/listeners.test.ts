import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { mqttLimits } from './limits.ts'
import { Listeners } from './listeners.ts'

/** A request for a WebSocket of no protocol, which is refused. */
const refused = [
  ...['GET / HTTP/1.1', 'host: here', 'connection: upgrade', 'upgrade: websocket'],
  ...['sec-websocket-version: 13', `sec-websocket-key: ${'A'.repeat(22)}==`, '', ''],
].join('\r\n')

it('outlasts clients that reset their connection before they are refused', async () => {
  const listeners = new Listeners(
    {
      ...{ host: '127.0.0.1', port: undefined, tlsPort: undefined, websocketPort: 0, tls: undefined },
      ...{ maxConnections: 10, maxConnectionsPerAddress: 10 },
    },
    mqttLimits,
    { accept: () => {}, refused: () => {} },
  )
  const { websocketPort: port = 0 } = await listeners.start()
  onTestFinished(() => listeners.stop())
  for (let i = 0; i < 5; i++) {
    const socket = connect(port, '127.0.0.1')
    socket.write(refused, () => socket.resetAndDestroy())
    await once(socket, 'close')
    // It is answered after those before it, whose errors Vitest would have caught by then.
    const last = connect(port, '127.0.0.1')
    last.write(refused)
    expect(await text(last)).toMatch(/^HTTP\/1.1 400 /)
  }
})
