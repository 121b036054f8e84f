// Runs a Cassandra of one node on 127.0.0.1 until Ctrl-C, with what it keeps in a temporary directory; installs it first where it is missing:
// node --conditions=runnel-src scripts/cassandra.ts
import { startCassandra } from '../packages/storage/src/store/cassandra/cassandra-server.testkit.ts'

const server = await startCassandra()
process.stderr.write(`Cassandra answers at ${server.contactPoint}; end it with Ctrl-C\n`)
process.once('SIGINT', () => void server.stop())
