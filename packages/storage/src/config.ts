import { z } from 'zod'

const file = () => z.string().min(1)
const address = () => z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits')

const retention = {
  maxAgeDays: z
    .number()
    .positive()
    .max(36_500)
    .optional()
    .describe('Messages older than so many days are deleted. Without it age does not matter.'),
  maxBytes: z
    .int()
    .min(1)
    .optional()
    .describe('Of each stream part, bytes kept; the oldest messages are deleted first.'),
}

/** The settings of a storage node: `storage.…` of a broker's configuration. */
export const storageConfigSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Whether this node keeps the streams that the storage registry assigns to it.'),
    engine: z.enum(['sqlite', 'cassandra']).default('sqlite').describe('Where messages are kept.'),
    directory: file().default('storage').describe('Directory of the SQLite file.'),
    cassandra: z
      .strictObject({
        contactPoints: z
          .array(z.string().min(1))
          .min(1)
          .max(64)
          .default(['127.0.0.1:9042'])
          .describe('Nodes of the cluster to begin with: host or host:port.'),
        localDataCenter: z.string().min(1).default('datacenter1').describe('Data centre this node is in.'),
        keyspace: z
          .string()
          .regex(/^[a-z][a-z0-9_]{0,47}$/, 'must be a to z, digits and _, at most 48')
          .default('runnel')
          .describe('Keyspace; made if there is none.'),
        username: z.string().min(1).optional().describe('User of the cluster.'),
        passwordFile: file().optional().describe('File with the password of that user.'),
      })
      .prefault({}),
    retention: z
      .strictObject({
        ...retention,
        streams: z
          .record(z.string(), z.strictObject(retention))
          .default({})
          .describe('Instead of the two above, by stream id: {"0x…/path": {"maxAgeDays": 7}}.'),
      })
      .prefault({}),
    maxStreamParts: z
      .int()
      .min(1)
      .max(100_000)
      .default(1_000)
      .describe('Most stream parts kept; of what is assigned beyond each owner of streams has its share.'),
    maxBytes: z
      .int()
      .min(1024 * 1024)
      .default(32 * 1024 ** 3)
      .describe('Bytes of batches kept of all streams; beyond, the oldest of the owner with the most go.'),
    maxBytesPerStream: z
      .int()
      .min(1024 * 1024)
      .default(8 * 1024 ** 3)
      .describe('Bytes of batches kept of each stream; beyond, its oldest go.'),
    owners: z
      .strictObject({
        allow: z
          .array(address())
          .max(1_000)
          .default([])
          .describe('Only streams of these owners are kept; none: of all.'),
        deny: z.array(address()).max(1_000).default([]).describe('Streams of these owners are not kept.'),
      })
      .prefault({}),
    maxQueuedBytes: z
      .int()
      .min(1024)
      .default(64 * 1024 * 1024)
      .describe('Bytes that may wait to be stored; beyond, batches are dropped and repaired later.'),
    maxQueuedBatches: z.int().min(1).default(100_000).describe('Batches that may wait to be stored.'),
    maxResends: z
      .int()
      .min(1)
      .max(10_000)
      .default(512)
      .describe('Most requests over links served at once. Each holds up to 128 KiB.'),
    maxHttpReads: z.int().min(1).max(10_000).default(32).describe('Most requests over HTTP served at once.'),
    repairIntervalMs: z
      .int()
      .min(100)
      .max(86_400_000)
      .default(60_000)
      .describe(
        'How often what may have been missed is asked of the other storage nodes, while there is some.',
      ),
  })
  .prefault({})

/** Checked settings with every default filled in. */
export type StorageConfig = z.output<typeof storageConfigSchema>
