import { parseStreamPartId, Shares, type StreamId, type StreamPartId } from '@runnel/protocol'

/** Whose streams an operator wants to keep. */
export interface OwnerLists {
  /** If there are any: only these. */
  readonly allow: readonly string[]
  /** Never these. */
  readonly deny: readonly string[]
}

/** The address in a stream's id, in lower case: who created the stream. */
export function ownerOf(id: StreamId | StreamPartId): string {
  return id.slice(0, id.indexOf('/'))
}

/** The stream of a stream part. */
export function streamOf(streamPartId: StreamPartId): StreamId {
  return parseStreamPartId(streamPartId).streamId
}

/** Whether an owner's streams are kept at all. */
export function isWelcome(owner: string, { allow, deny }: OwnerLists): boolean {
  const isOwner = (address: string) => address.toLowerCase() === owner
  return !deny.some(isOwner) && (allow.length === 0 || allow.some(isOwner))
}

/**
 * The items that fit, in their order. Earlier items stay, unless their owner has more than its share while others want theirs;
 * then the owner with the most loses its latest item.
 */
export function shareOut<Id extends StreamId | StreamPartId>(
  items: readonly Id[],
  max: number,
): readonly Id[] {
  const shares = new Shares<Id>({ max, evict: 'newest' })
  // Shares only shrink: an owner that had to give way once has no room for anything after that.
  const full = new Set<string>()
  for (const item of items) {
    const owner = ownerOf(item)
    if (full.has(owner)) continue
    for (const evicted of shares.add(item, owner)) full.add(ownerOf(evicted))
  }
  return items.filter((item) => shares.has(item))
}

/** The items, reordered: those in `first` come first, in its order. */
export function inOrderOf<T>(first: Iterable<T>, items: readonly T[]): T[] {
  const wanted = new Set(items)
  return [...new Set([...[...first].filter((item) => wanted.has(item)), ...items])]
}
