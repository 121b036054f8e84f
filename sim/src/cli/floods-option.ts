const floods = ['thin', 'full'] as const
export type Floods = (typeof floods)[number]

/** How messages are flooded: as nodes do by default, or every copy to every neighbour. */
export const floodsOption = {
  floods: {
    choices: floods,
    default: 'thin' as Floods,
    describe: 'thin: neighbours whose copies come late send digests; full: copies to everybody',
  },
} as const
