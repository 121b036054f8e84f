/** What a user may do with a stream, numbered as in `IStreamRegistry.Permission`. */
export const Permission = { edit: 0, delete: 1, publish: 2, subscribe: 3, grant: 4 } as const

/** The name of a permission. */
export type PermissionName = keyof typeof Permission
/** The number of a permission. */
export type Permission = (typeof Permission)[PermissionName]

/** The expiry (unix seconds) of a permission that never ends. */
export const FOREVER = 2n ** 64n - 1n

/** The name of a permission by its number, as a contract returns it; undefined for a number that is none. */
export function permissionName(number: bigint | number): PermissionName | undefined {
  const names = Object.keys(Permission) as PermissionName[]
  return names.find((name) => Permission[name] === Number(number))
}
