import { isKeyPart, type PermissionScope } from '../ids/stream-id.ts'

/** What a registry says of a user. */
interface Permitted {
  readonly grant: boolean
  /** Unix milliseconds: 0 is never, Infinity for ever. */
  readonly publishUntilMs: number
  readonly subscribeUntilMs: number
}

/** Until when a user may publish, in Unix milliseconds. */
export function publishesUntilMs(permitted: Permitted, scope: PermissionScope): number {
  return isKeyPart(scope) ? takesPartUntilMs(permitted) : permitted.publishUntilMs
}

/** Until when a user may read, in Unix milliseconds. */
export function readsUntilMs(permitted: Permitted, scope: PermissionScope): number {
  return isKeyPart(scope) ? takesPartUntilMs(permitted) : permitted.subscribeUntilMs
}

/** Publishers spread keys, readers ask for them, and whoever grants may hold them for a stream. */
function takesPartUntilMs({ grant, publishUntilMs, subscribeUntilMs }: Permitted): number {
  return grant ? Infinity : Math.max(publishUntilMs, subscribeUntilMs)
}
