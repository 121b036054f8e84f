import { nodeError } from '../../errors.ts'

/** Loads what only some kinds of user need, and what need not be installed. Throws BENCH_PACKAGE_MISSING. */
export async function optionalPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND')
      throw nodeError('BENCH_PACKAGE_MISSING', name, { cause })
    throw cause
  }
}
