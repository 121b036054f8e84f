import { distance } from 'fastest-levenshtein'

/** How many typing errors a word may be away to be offered instead. */
const maxDistance = 3

/** The candidate that was probably meant, or undefined when none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.min(maxDistance, Math.ceil(word.length / 2)) + 1
  for (const candidate of candidates) {
    const away = distance(word.toLowerCase(), candidate.toLowerCase())
    if (away < bestDistance) [best, bestDistance] = [candidate, away]
  }
  return best
}

/** `; did you mean "x"?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const candidate = nearest(word, candidates)
  return candidate === undefined ? '' : `; did you mean ${candidate}?`
}
