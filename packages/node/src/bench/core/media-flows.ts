import type { Flow } from './plan.ts'

/** What a user of a meeting sends: Opus in packets of 20 ms, and pictures of 640×360 at 400 kbit/s. */
export const mediaFlows = {
  sound: { name: 'sound', ratePerS: 50, sizeBytes: 120, urgent: true },
  picture: { name: 'picture', ratePerS: 30, sizeBytes: 1_700, urgent: true },
} as const satisfies Readonly<Record<string, Flow>>
