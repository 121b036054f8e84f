/** What `work` resolves with, or undefined when it failed; `onFailure` is told why, unless what it was for has ended meanwhile. */
export async function attempt<T>(
  work: Promise<T> | undefined,
  isCurrent: () => boolean,
  onFailure: (error: unknown) => void,
): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isCurrent()) onFailure(error)
    return undefined
  }
}
