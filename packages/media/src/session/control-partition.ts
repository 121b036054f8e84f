/** Control messages and sound are there, and all else where a stream has one partition only. */
export const controlPartition = 0
