import { z } from 'zod'

/** The setting `maxConnectionsPerAddress`, which each gateway has. */
export function perAddressSetting() {
  return z
    .int()
    .min(1)
    .max(100_000)
    .default(1_000)
    .describe(
      'Most connections from one IPv4 address or IPv6 /64, also before a key is shown; behind a proxy all come from one.',
    )
}
