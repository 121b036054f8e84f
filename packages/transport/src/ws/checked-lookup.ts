import { lookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'

/**
 * A name look-up for `net.connect` that keeps only the addresses that `choose` chooses, and fails with what it throws. So the
 * address checked is the address dialled, whatever the name resolves to next time.
 */
export function checkedLookup(
  choose: (found: readonly LookupAddress[]) => readonly LookupAddress[],
): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      let chosen: readonly LookupAddress[]
      try {
        chosen = choose(found)
      } catch (refusal) {
        return callback(refusal as Error, [])
      }
      const [first] = chosen
      if (options.all) callback(null, [...chosen])
      else if (first !== undefined) callback(null, first.address, first.family)
      else callback(new Error(`${hostname} has no address`), [])
    })
}
