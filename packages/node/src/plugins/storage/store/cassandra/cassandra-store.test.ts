import { systemClock } from '@runnel/protocol/system'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testMessageStore } from '../conformance.testkit.ts'
import { CassandraStore } from './cassandra-store.ts'
import { startCassandra, type CassandraServer } from './cassandra-server.testkit.ts'

/** The first time Java, Maven and Cassandra may have to be fetched. */
const installAndStartMs = 600_000

let server: CassandraServer
let keyspaces = 0
beforeAll(async () => {
  server = await startCassandra()
}, installAndStartMs)
afterAll(() => server.stop())

function storeIn(keyspace: string, contactPoint = server.contactPoint): CassandraStore {
  const { localDataCenter } = server
  return new CassandraStore(
    { contactPoints: [contactPoint], localDataCenter, keyspace },
    { clock: systemClock },
  )
}

async function newPlace() {
  const keyspace = `conformance_${keyspaces++}`
  return { create: () => storeIn(keyspace), remove: async () => {} }
}

testMessageStore('Cassandra', newPlace, [6, 7])

describe('a store in Cassandra', () => {
  it('says where nobody answers', async () => {
    const store = storeIn('nowhere', '127.0.0.1:1')
    await expect(store.open()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('cassandra://127.0.0.1:1/nowhere') as string,
    })
    await store.close()
  })

  it('refuses a keyspace that is none, and never sends it', async () => {
    await expect(storeIn('a; DROP').open()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})
