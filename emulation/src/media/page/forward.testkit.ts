// Runs in an emulated host: what connects to a port of its 127.0.0.1 is passed to a socket in the file system, which all hosts share.
import { createConnection, createServer } from 'node:net'

const [port, socketPath = ''] = process.argv.slice(2)

createServer((from) => {
  const to = createConnection(socketPath)
  from.pipe(to).pipe(from)
  from.on('error', () => to.destroy())
  to.on('error', () => from.destroy())
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'))
