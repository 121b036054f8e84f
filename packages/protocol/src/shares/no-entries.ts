class NoEntries<K, V> extends Map<K, V> {
  override set(): this {
    throw new Error('many tables share this one')
  }
}

const shared = new NoEntries<never, never>()

/**
 * A map without entries, the same for all who ask: what a table has until its first entry comes, when its owner makes it one of its own. A node has
 * dozens of tables that most nodes never use, and an empty map takes 184 bytes.
 */
export function noEntries<K, V>(): Map<K, V> {
  return shared
}
