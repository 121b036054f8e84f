/**
 * Undefined where the library throws an error of one of these names: what came is none. By name, as where its classes are loaded twice
 * `instanceof` would not know them.
 */
export async function undefinedOn<T>(
  names: readonly string[],
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && names.includes(error.name)) return undefined
    throw error
  }
}
