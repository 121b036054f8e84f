import { limits } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'

/** Options that say how many overlays there are. */
export interface PartOptions {
  readonly clients: number
  readonly streams: number
  /** Users of an overlay, in place of `streams`. */
  readonly room?: number | undefined
  /** The most users there will be, where that is more than `clients`. */
  readonly most?: number | undefined
}

/** Overlays that options ask for. */
export function partsOf({ clients, streams, room, most = clients }: PartOptions): number {
  return room === undefined ? streams : Math.ceil(most / room)
}

/** Throws USAGE, with the options that ask for more, unless a stream has the partitions that they ask for. */
export function requireParts(options: PartOptions, stream: string, partitions: number): void {
  const parts = partsOf(options)
  if (parts <= partitions) return
  const { clients, streams, room, most } = options
  const users = most === undefined ? `${clients} users (--clients)` : `up to ${most} users (--most)`
  const asked = room === undefined ? `--streams ${streams}` : `--room ${room} for ${users}`
  const remedy =
    parts > limits.maxPartitions
      ? 'ask for less'
      : `make one: runnel stream create /NAME --partitions ${parts}, and give it with --stream /NAME`
  throw nodeError(
    'USAGE',
    `${asked} needs ${parts} partitions, more than the ${partitions} of ${stream}; ${remedy}`,
  )
}
