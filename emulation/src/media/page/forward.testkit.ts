// Runs in an emulated host: what connects to a port of its 127.0.0.1 is passed to a socket in the file system, which all hosts share.
import { createConnection, createServer } from 'node:net'
import { passOn } from './pass-on.testkit.ts'

const [port, socketPath = ''] = process.argv.slice(2)

createServer((from) => {
  const to = createConnection(socketPath)
  passOn(from, to)
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'))
