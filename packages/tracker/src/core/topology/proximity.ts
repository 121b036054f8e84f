/** What an overlay that considers distances uses. */
export interface Proximity<Id extends string> {
  /** The expected round-trip time between the two, in milliseconds; undefined when it is unknown. Symmetric. */
  distanceMs(a: Id, b: Id): number | undefined
  /** Whether the node may be given other neighbours now. */
  mayChange(id: Id): boolean
}
