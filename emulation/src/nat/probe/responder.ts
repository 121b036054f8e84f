import { createSocket } from 'node:dgram'
import { publicAddresses } from '../laboratory.ts'
import { probePorts, type ProbeReply, type ProbeRequest } from './messages.ts'

// A server with two addresses and two ports of each, as RFC 5780 wants it (section 3), which answers from the one it is asked to.
const sockets = await Promise.all(
  publicAddresses.map((address) =>
    Promise.all(
      probePorts.map(
        (port) =>
          new Promise<ReturnType<typeof createSocket>>((resolve) => {
            const socket = createSocket('udp4')
            socket.bind(port, address, () => resolve(socket))
          }),
      ),
    ),
  ),
)
for (const socket of sockets.flat()) {
  socket.on('message', (bytes, { address, port }) => {
    const { id, from } = JSON.parse(bytes.toString()) as ProbeRequest
    const reply: ProbeReply = { id, seen: `${address}:${port}` }
    sockets[from[0]]?.[from[1]]?.send(JSON.stringify(reply), port, address)
  })
}
process.stdout.write('ready\n')
