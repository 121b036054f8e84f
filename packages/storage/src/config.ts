import { z } from 'zod'

const file = () => z.string().min(1)
const address = () => z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits')

const retention = {
  maxAgeDays: z
    .number()
    .positive()
    .max(36_500)
    .optional()
    .describe('Messages older than this many days are deleted. Without it, messages are kept at any age.'),
  maxBytes: z
    .int()
    .min(1)
    .optional()
    .describe('Bytes kept of each stream part; the oldest messages are deleted first.'),
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
          .describe('Nodes of the cluster to contact first: host or host:port.'),
        localDataCenter: z.string().min(1).default('datacenter1').describe('Data centre of this node.'),
        keyspace: z
          .string()
          .regex(/^[a-z][a-z0-9_]{0,47}$/, 'must be a to z, digits and _, at most 48')
          .default('runnel')
          .describe('Keyspace; created if it does not exist.'),
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
          .describe(
            'Retention of single streams, instead of the two above: {"0x…/path": {"maxAgeDays": 7}}.',
          ),
      })
      .prefault({}),
    maxStreamParts: z
      .int()
      .min(1)
      .max(100_000)
      .default(1_000)
      .describe(
        'Maximum number of stream parts kept. If more are assigned, they are shared out among the owners of streams.',
      ),
    maxBytes: z
      .int()
      .min(1024 * 1024)
      .default(32 * 1024 ** 3)
      .describe(
        'Maximum bytes of batches kept of all streams. Above it, the oldest batches of the owner with the most bytes are deleted.',
      ),
    maxBytesPerStream: z
      .int()
      .min(1024 * 1024)
      .default(8 * 1024 ** 3)
      .describe('Maximum bytes of batches kept of each stream. Above it, its oldest batches are deleted.'),
    owners: z
      .strictObject({
        allow: z
          .array(address())
          .max(1_000)
          .default([])
          .describe('If not empty, only streams of these owners are kept.'),
        deny: z.array(address()).max(1_000).default([]).describe('Streams of these owners are not kept.'),
      })
      .prefault({}),
    maxQueuedBytes: z
      .int()
      .min(1024)
      .default(64 * 1024 * 1024)
      .describe('Maximum bytes that wait to be stored. Above it, batches are dropped and repaired later.'),
    maxQueuedBatches: z
      .int()
      .min(1)
      .default(100_000)
      .describe('Maximum number of batches that wait to be stored.'),
    maxResends: z
      .int()
      .min(1)
      .max(10_000)
      .default(512)
      .describe('Maximum number of requests over links served at once. Each takes up to 128 KiB.'),
    maxHttpReads: z
      .int()
      .min(1)
      .max(10_000)
      .default(32)
      .describe('Maximum number of requests over HTTP served at once.'),
    repairIntervalMs: z
      .int()
      .min(100)
      .max(86_400_000)
      .default(60_000)
      .describe(
        'How often this node asks the other storage nodes for messages that it may have missed, as long as there are any.',
      ),
  })
  .prefault({})

/** Checked settings with every default filled in. */
export type StorageConfig = z.output<typeof storageConfigSchema>
