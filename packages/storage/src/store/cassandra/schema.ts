import type { Client } from 'cassandra-driver'
import { isKeyPart, type StreamPartId } from '@runnel/protocol'
import { storageError } from '../../errors.ts'
import { pagedOptions, queryOptions } from './query-options.ts'

/**
 * Batches of one partition begin within this time. At 1,000 messages of 200 bytes a second a partition comes
 * to some 15 MB; Cassandra is at ease up to 100 MB.
 */
export const bucketMs = 60_000

/** The version of the tables below. */
const schemaVersion = 5

/** Copies in a data centre, unless it has fewer nodes when the keyspace is made. */
const largestReplication = 3

/**
 * - `batches`: the batches as they were published, in partitions of a stream part, a level (see `widthMsByLevel`) and a
 *   minute, so that no partition grows without bound.
 * - `buckets`: which of these there are, so that nobody looks through empty minutes. Written before every append, so
 *   that its write time says when there was the last one.
 * - `key_chains`: the batches of key parts by their message chains, to find the last of one among those of thousands.
 * - `newest`: in which batch the newest message of each key of a stream part is, in 16 partitions by tag.
 * - `cards`: a card for each user.
 * - `delegations`: those that batches of a stream part name, by the hour in which the batches begin (see `periodOf`).
 * - `delegation_periods`: for which hours there are some.
 * - `delegation_checks`: for which of these hours some may be named by no batch any more (see `noteForgetting`).
 */
const tables = [
  `batches (
    part text, level tinyint, bucket bigint,
    first_time bigint, first_number bigint, last_time bigint, last_number bigint, publisher text, chain text,
    messages int, size int, bytes blob,
    PRIMARY KEY ((part, level, bucket), first_time, first_number, last_time, last_number, publisher, chain)
  )`,
  'buckets (part text, level tinyint, bucket bigint, written boolean, PRIMARY KEY ((part, level), bucket))',
  'delegations (part text, period bigint, ref text, bytes blob, PRIMARY KEY ((part, period), ref))',
  'delegation_periods (part text, period bigint, PRIMARY KEY (part, period))',
  'delegation_checks (part text, period bigint, due boolean, PRIMARY KEY (part, period))',
  `key_chains (
    part text, publisher text, chain text, level tinyint, bucket bigint,
    first_time bigint, first_number bigint, last_time bigint, last_number bigint, messages int, size int,
    PRIMARY KEY ((part, publisher, chain), first_time, first_number, last_time, last_number)
  )`,
  'newest (part text, shard tinyint, tag blob, value text, PRIMARY KEY ((part, shard), tag))',
  'cards (user text PRIMARY KEY, bytes blob, kept bigint, vouched boolean)',
  'parts (part text PRIMARY KEY)',
  'marks (name text PRIMARY KEY, value text)',
]

/**
 * Makes the keyspace and its tables where there are none; needs no permission to when there are.
 * Throws STORE_VERSION when they are of a newer version.
 */
export async function createSchema(
  client: Client,
  { keyspace, localDataCenter }: { readonly keyspace: string; readonly localDataCenter: string },
): Promise<void> {
  const version = await versionOf(client, keyspace)
  if (version > schemaVersion) {
    throw storageError(
      'STORE_VERSION',
      `${keyspace} is of version ${version}, this build knows ${schemaVersion}`,
    )
  }
  if (version === schemaVersion) return
  const hosts = client.hosts.values().filter(({ datacenter }) => datacenter === localDataCenter)
  const replication = Math.max(1, Math.min(largestReplication, hosts.length))
  await client.execute(
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace}
     WITH replication = {'class': 'NetworkTopologyStrategy', '${localDataCenter}': ${replication}}`,
  )
  for (const table of tables) await client.execute(`CREATE TABLE IF NOT EXISTS ${keyspace}.${table}`)
  await client.execute(`CREATE TABLE IF NOT EXISTS ${keyspace}.versions (name text PRIMARY KEY, version int)`)
  if (version >= 2 && version < 5) await checkKeyParts(client, keyspace)
  await client.execute(`INSERT INTO ${keyspace}.versions (name, version) VALUES ('tables', ${schemaVersion})`)
}

/** 0 when there are no tables yet. */
async function versionOf(client: Client, keyspace: string): Promise<number> {
  const known = await client.execute(
    "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = 'versions'",
    [keyspace],
    { prepare: true },
  )
  if (known.rowLength === 0) return 0
  const { rows } = await client.execute(`SELECT version FROM ${keyspace}.versions WHERE name = 'tables'`)
  return Number(rows[0]?.get('version') ?? 0)
}

/** Has all hours of key parts checked: earlier versions left the delegations of replaced cursors there. */
async function checkKeyParts(client: Client, keyspace: string): Promise<void> {
  for await (const { part } of await client.execute(`SELECT part FROM ${keyspace}.parts`, [], pagedOptions)) {
    if (!isKeyPart(String(part) as StreamPartId)) continue
    const periods = `SELECT period FROM ${keyspace}.delegation_periods WHERE part = ?`
    const note = `INSERT INTO ${keyspace}.delegation_checks (part, period, due) VALUES (?, ?, true)`
    for await (const { period } of await client.execute(periods, [part], pagedOptions))
      await client.execute(note, [part, period], queryOptions)
  }
}
