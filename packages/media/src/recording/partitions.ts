/** Where a recording's notes are: small, and read as a whole. */
export const notePartition = 0

/** Where frames of a partition of the session are in its recording, so that a reader takes those renditions only that it shows. */
export const objectPartition = (partition: number, partitions: number): number =>
  Math.min(partition + 1, partitions - 1)

/** The numbers of so many partitions. */
export const allPartitions = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, partition) => partition)
