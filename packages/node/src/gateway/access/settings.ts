import { z } from 'zod'

/** The setting `maxConnectionsPerAddress`, which each gateway has. */
export function perAddressSetting() {
  return z
    .int()
    .min(1)
    .max(100_000)
    .default(1_000)
    .describe(
      'Maximum number of connections from one IPv4 address or IPv6 /64, including those that have not sent a key yet. Behind a proxy, all clients share one address.',
    )
}
