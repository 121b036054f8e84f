/** Of statements that read or write rows: prepared once, and sent again where there was no answer, as each has the same effect twice. */
export const queryOptions = { prepare: true, isIdempotent: true } as const

/** The same, of reads that may have more rows than fit into one answer. */
export const pagedOptions = { ...queryOptions, autoPage: true } as const
