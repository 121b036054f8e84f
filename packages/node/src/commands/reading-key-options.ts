import type { Options } from 'yargs'

/** Which of a user's reading keys. */
export const generationOption = {
  generation: {
    type: 'number',
    default: 0,
    describe: 'Generation of the key; runnel reading-key rotate prints the newest',
  },
} as const satisfies Record<string, Options>
