/** Which codec a publisher uses, and who cannot see it. */
export interface CodecChoice {
  readonly codec: string
  /** Members that decode none of what this publisher encodes, or not this one. */
  readonly without: readonly string[]
}

/** The first of those that can be encoded, in the order of preference, that most members decode: all, where there is one in common. */
export function chooseCodec(
  encodes: readonly string[],
  decodes: ReadonlyMap<string, readonly string[]>,
): CodecChoice | undefined {
  const choices = encodes.map((codec): CodecChoice => {
    const without = [...decodes].flatMap(([member, codecs]) => (codecs.includes(codec) ? [] : [member]))
    return { codec, without }
  })
  const [first, ...others] = choices
  return others.reduce(
    (best, other) => (other.without.length < (best?.without.length ?? 0) ? other : best),
    first,
  )
}
