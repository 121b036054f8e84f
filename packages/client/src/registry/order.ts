import type { Permissions, UserPermissions } from './ports.ts'

/** Some permission, expired or not. */
export function hasAny(permissions: Permissions): boolean {
  const { edit, delete: remove, grant, publishUntilMs, subscribeUntilMs } = permissions
  return edit || remove || grant || publishUntilMs > 0 || subscribeUntilMs > 0
}

/** 'public' first, then by id. */
export function byUser(a: UserPermissions, b: UserPermissions): number {
  if (a.user === 'public' || b.user === 'public') return a.user === b.user ? 0 : a.user === 'public' ? -1 : 1
  return compare(a.user, b.user)
}

/** Order of plain strings, the same everywhere. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
