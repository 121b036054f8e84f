/** Look-ups after which something counts as unknown. */
const maxLookUps = 8

/**
 * What a registry's cache answers, at once if it knows, else after look-ups. What is unknown again once it was looked up is no denial: the
 * registry told of a change meanwhile, so it is looked up once more. Rejects when a look-up does.
 */
export function answerOf<T>(check: () => T, lookUp: () => Promise<void>): T | Promise<T> {
  const answer = check()
  return isKnown(answer) ? answer : lookedUp(check, lookUp)
}

async function lookedUp<T>(check: () => T, lookUp: () => Promise<void>): Promise<T> {
  let answer: T
  let lookUps = 0
  do {
    await lookUp()
    answer = check()
  } while (!isKnown(answer) && ++lookUps < maxLookUps)
  return answer
}

function isKnown(answer: unknown): boolean {
  return answer !== undefined && answer !== 'unknown'
}
