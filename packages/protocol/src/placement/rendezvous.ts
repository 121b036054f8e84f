/**
 * Those of `ids` with the highest weight for a key, the first one first: at most `count`, the same ones whatever their order. Rendezvous
 * hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998): an id that comes or goes moves only the keys it
 * takes or leaves.
 */
export function highestFor<Id extends string>(key: string, ids: readonly Id[], count: number): Id[] {
  return [...new Set(ids)]
    .map((id) => ({ id, weight: weightOf(`${id} ${key}`) }))
    .sort((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => id)
}

/**
 * 53 well-mixed bits of a string: two 32-bit lanes of xor and multiply over its units, each ended by the finalizer of
 * MurmurHash3. It need not resist an adversary: who is responsible is no secret, and being so gives no right.
 */
function weightOf(text: string): number {
  let a = 0x9e3779b9
  let b = 0x7f4a7c15
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x85ebca6b)
    a ^= a >>> 15
    b = Math.imul(b ^ unit, 0xc2b2ae35)
    b ^= b >>> 13
  }
  return (finalize(a ^ b) & 0x1fffff) * 2 ** 32 + finalize(b)
}

function finalize(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
