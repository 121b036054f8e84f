// What publishes a container's ports:  node port-proxy.ts ADDRESS HOST:PORT:CONTAINER_PORT…
import { connect, createServer } from 'node:net'

const [address = '', ...ports] = process.argv.slice(2)
for (const words of ports) {
  const [host, port, target] = words.split(':')
  const server = createServer((from) => {
    const to = connect(Number(target), address)
    from.pipe(to).pipe(from)
    // Whoever hangs up, hangs up for both.
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const)
      socket.on('error', () => other.destroy()).on('close', () => other.destroy())
  })
  server.listen(Number(port), host)
}
