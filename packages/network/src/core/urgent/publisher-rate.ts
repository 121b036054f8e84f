/**
 * The rate that a publisher follows, of those of its links: the second worst, or the only one. One receiver behind a bad link holds nobody up:
 * what is too much for that link is dropped before it, by priority, and reaches it by others.
 */
export function publisherRate(kbitPerS: readonly number[]): number | undefined {
  const [worst, secondWorst = worst] = [...kbitPerS].sort((a, b) => a - b)
  return secondWorst
}
