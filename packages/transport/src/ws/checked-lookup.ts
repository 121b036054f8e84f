import { lookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'

/**
 * A look-up of names for `net.connect` that leaves out the addresses that `refusal` says are not to be dialled, and fails with what it
 * says when none is left: what is checked is what is dialled, whatever the name leads to the next time.
 */
export function checkedLookup(refusal: (address: string) => Error | undefined): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const refusals = found.map(({ address }) => refusal(address))
      const admitted = found.filter((_, index) => refusals[index] === undefined)
      const [first] = admitted as [LookupAddress?]
      if (first === undefined) return callback(refusals[0] ?? new Error(`${hostname} has no address`), [])
      if (options.all) callback(null, admitted)
      else callback(null, first.address, first.family)
    })
}
