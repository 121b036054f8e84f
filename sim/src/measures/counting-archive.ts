import type { Archive } from '@runnel/network'

/** Stands where storage nodes would be, has nothing, and counts how often it is asked. */
export class CountingArchive implements Archive {
  asked = 0

  fill(): Promise<void> {
    this.asked++
    return Promise.resolve()
  }
}
