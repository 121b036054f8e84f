import { mapAtOnce, toNodeId, type NodeId } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import type { PermissionName, Permissions, StreamInfo } from '../registry/ports.ts'
import type { RegistryService } from '../registry/registry-service.ts'

/** Which streams to list: streams that match every given field. */
export interface StreamFilter {
  /** Only streams owned by this address. */
  readonly owner?: string | undefined
  /**
   * Only streams whose id begins with this prefix: `0xowner/sensors/`, or `/sensors/` for the
   * account's own streams.
   */
  readonly prefix?: string | undefined
  /** Only streams on which `user` has this permission now, the user's own or public. */
  readonly permission?: PermissionName | undefined
  /** Default: this client's user. */
  readonly user?: string | undefined
}

const filterOptions: OptionNames<StreamFilter> = { owner: true, prefix: true, permission: true, user: true }

export interface FindStreamsModules {
  readonly account: NodeId
  readonly userId: NodeId
  /** Unix milliseconds. */
  readonly nowMs: number
  readonly registry: Pick<RegistryService, 'listStreams' | 'cache'>
}

/** Streams whose permissions are requested at once. */
const maxAtOnce = 32

/** Throws INVALID_ARGUMENT, INVALID_NODE_ID, and what the registry throws. */
export async function findStreams(
  filter: StreamFilter,
  { account, userId, nowMs, registry }: FindStreamsModules,
): Promise<readonly StreamInfo[]> {
  checkOptions('listStreams', filter, filterOptions)
  const { owner, prefix = '', permission, user } = filter
  if (user !== undefined && permission === undefined)
    throw clientError('INVALID_ARGUMENT', 'a user goes with a permission')
  const whole = prefix.startsWith('/') ? account + prefix : prefix
  const start = whole.slice(0, 42).toLowerCase() + whole.slice(42)
  const all = await registry.listStreams({ owner: owner === undefined ? undefined : toNodeId(owner) })
  const found = all.filter(({ id }) => id.startsWith(start))
  if (permission === undefined) return found
  const who = user === undefined ? userId : toNodeId(user)
  const permissions = await mapAtOnce(found, maxAtOnce, ({ id }) => registry.cache.permissionsOf(id, who))
  return found.filter((_, at) => has(permissions[at], permission, nowMs))
}

function has(permissions: Permissions | undefined, name: PermissionName, nowMs: number): boolean {
  if (permissions === undefined) return false
  if (name === 'publish') return permissions.publishUntilMs > nowMs
  return name === 'subscribe' ? permissions.subscribeUntilMs > nowMs : permissions[name]
}
