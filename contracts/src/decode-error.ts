import { Interface, isCallException, type ErrorDescription } from '@runnel/contracts/ethers'
import { errorHints, type RegistryErrors } from './error-hints.ts'
import { abi as permissionedTrackerRegistryAbi } from './generated/permissioned-tracker-registry.ts'
import { abi as storageRegistryAbi } from './generated/storage-registry.ts'
import { abi as streamRegistryAbi } from './generated/stream-registry.ts'

/** A revert of a registry, taken apart. */
export type RegistryError = {
  [Name in keyof RegistryErrors]: {
    /** The custom error's name, such as `StreamRegistry__NotPermitted`. */
    readonly name: Name
    /** Its arguments by name. */
    readonly args: RegistryErrors[Name]
    /** One sentence for a person. */
    readonly hint: string
  }
}[keyof RegistryErrors]

const registryErrors = new Interface(
  [...permissionedTrackerRegistryAbi, ...streamRegistryAbi, ...storageRegistryAbi].filter(
    (item) => item.type === 'error',
  ),
)

/**
 * Turns what ethers throws for a reverted call, or an error caused by it, into the registry's own error with a clear
 * sentence; undefined when it is anything else, such as a failed connection or another contract's error. A transaction
 * sent with a gas limit of its own is not tried beforehand: if it reverts, its receipt gives no reason, and this none.
 */
export function decodeRegistryError(error: unknown): RegistryError | undefined {
  const data = revertData(error)
  if (data === undefined) return undefined
  const parsed = parse(data)
  if (!parsed || !isRegistryErrorName(parsed.name)) return undefined
  return describe(parsed.name, parsed.args.toObject())
}

/** The data of the first reverted call on the chain of causes. */
function revertData(error: unknown): string | undefined {
  const visited = new Set<unknown>()
  for (let it = error; it instanceof Error && !visited.has(it); it = it.cause) {
    if (isCallException(it)) return it.data ?? undefined
    visited.add(it)
  }
  return undefined
}

/** The data comes from whoever runs the chain's endpoint, so it need not be well-formed. */
function parse(data: string): ErrorDescription | undefined {
  try {
    return registryErrors.parseError(data) ?? undefined
  } catch {
    return undefined
  }
}

function isRegistryErrorName(name: string): name is keyof RegistryErrors {
  return Object.hasOwn(errorHints, name)
}

function describe(name: keyof RegistryErrors, args: Record<string, unknown>): RegistryError {
  const hint = errorHints[name] as (args: Record<string, unknown>) => string
  return { name, args, hint: hint(args) } as RegistryError
}
