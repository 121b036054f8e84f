import type { UserPermissions } from '@runnel/client'

/** Permissions as JSON can hold them: an expiry is a date, true is for ever. */
export function permissionsAsJson(permissions: UserPermissions) {
  const { user, edit, delete: remove, grant, publishUntilMs, subscribeUntilMs } = permissions
  return {
    user,
    edit,
    delete: remove,
    grant,
    publish: until(publishUntilMs),
    subscribe: until(subscribeUntilMs),
  }
}

/** The permissions in one line. */
export function describePermissions(permissions: UserPermissions): string {
  const { user, ...rights } = permissionsAsJson(permissions)
  const held = Object.entries(rights).filter(([, value]) => value !== false)
  return `${user} ${held.map(([name, value]) => (value === true ? name : `${name} until ${value}`)).join(', ')}`
}

function until(ms: number): boolean | string {
  if (ms === 0) return false
  // Beyond the last date JavaScript knows it may as well be for ever.
  return ms > 8.64e15 ? true : new Date(ms).toISOString()
}
