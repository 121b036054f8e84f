/** Deletes the first entry of a map or a set with more than `max`. Called after each that is added, it keeps the last ones. */
export function dropOldest<K>(
  kept: { readonly size: number; keys(): Iterable<K>; delete(key: K): unknown },
  max: number,
): void {
  if (kept.size <= max) return
  for (const oldest of kept.keys()) {
    kept.delete(oldest)
    return
  }
}
