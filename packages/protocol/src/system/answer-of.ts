/** Looked up so often before it counts as unknown. */
const maxLookUps = 8

/**
 * What a registry's cache answers, after look-ups if it does not know. What is unknown again once it was looked up is no denial: the
 * registry told of a change meanwhile, so it is looked up once more. Rejects when a look-up does.
 */
export async function answerOf<T>(check: () => T, lookUp: () => Promise<void>): Promise<T> {
  for (let lookUps = 0; lookUps < maxLookUps; lookUps++) {
    const answer = check()
    if (answer !== undefined && answer !== 'unknown') return answer
    await lookUp()
  }
  return check()
}
