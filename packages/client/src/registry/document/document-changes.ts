import type { StreamId } from '@runnel/protocol'
import { compare } from '../order.ts'
import { noPermissions, type Permissions, type RegistryChange, type UserPermissions } from '../ports.ts'
import { directPermissions } from '../static-registries.ts'
import type { ParsedStaticStream } from '../static-network.ts'
import type { CheckedDocument } from './network-document.ts'

/** What a revision changed, as a chain's events would tell. */
export function changesBetween(before: CheckedDocument, after: CheckedDocument): RegistryChange[] {
  const [old, now] = [streamsOf(before), streamsOf(after)]
  const ids = [...new Set([...old.keys(), ...now.keys()])].sort(compare)
  const hasStorage = ids.some(
    (id) => !isEqual(old.get(id)?.storageNodes ?? [], now.get(id)?.storageNodes ?? []),
  )
  return [
    ...(isEqual(before.network.trackers, after.network.trackers) ? [] : [{ kind: 'trackers' } as const]),
    ...ids.flatMap((streamId): RegistryChange[] => {
      const streams = [old.get(streamId), now.get(streamId)] as const
      const isSame = isEqual(...(streams.map((one) => one && settingsOf(one)) as [unknown, unknown]))
      const isNew = before.history.get(streamId)?.createdMs !== after.history.get(streamId)?.createdMs
      return [
        ...(isSame && !isNew ? [] : [{ kind: 'stream', streamId } as const]),
        ...permissionChanges(streamId, streams, before, after),
      ]
    }),
    ...(hasStorage ? [{ kind: 'storage' } as const] : []),
  ]
}

/** What each user may since; by its own id, or as public. */
function permissionChanges(
  streamId: StreamId,
  [old, now]: readonly [ParsedStaticStream | undefined, ParsedStaticStream | undefined],
  before: CheckedDocument,
  after: CheckedDocument,
): RegistryChange[] {
  const was = new Map(directPermissions(old).map((entry) => [entry.user, entry]))
  const is = new Map(directPermissions(now).map((entry) => [entry.user, entry]))
  const users = [...new Set([...was.keys(), ...is.keys()])].sort(compare)
  return users.flatMap((user): RegistryChange[] => {
    const [a, b] = [was.get(user), is.get(user)]
    if (isEqual(a, b)) return []
    const block = isLoss(a, b) ? lossBlock(streamId, before, after) : after.revision
    if (user === 'public') return [{ kind: 'permissions', streamId, user, block }]
    const { user: _, ...permissions }: Permissions & { user?: unknown } = b ?? noPermissions
    return [{ kind: 'permissions', streamId, user, block, permissions }]
  })
}

/** Where some revisions were not seen, a loss is dated as the document says, so that all who follow it date it alike. */
function lossBlock(streamId: StreamId, before: CheckedDocument, after: CheckedDocument): number {
  const said = after.history.get(streamId)?.lossRevision ?? 0
  return said > before.revision && said <= after.revision ? said : after.revision
}

/** Somebody who could read, or grant, no longer can: publishers make new keys then. */
export function isLoss(before: UserPermissions | undefined, after: UserPermissions | undefined): boolean {
  if (before === undefined) return false
  const lostRead = before.subscribeUntilMs > 0 && (after?.subscribeUntilMs ?? 0) === 0
  return lostRead || (before.grant && after?.grant !== true)
}

const streamsOf = ({ network }: CheckedDocument) => new Map(network.streams.map((one) => [one.id, one]))

const settingsOf = ({ partitions, metadata, trackers }: ParsedStaticStream) => ({
  ...{ partitions, metadata, trackers },
})

/** Of plain data. `Infinity` is no JSON. */
function isEqual(a: unknown, b: unknown): boolean {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, one: unknown) => (one === Infinity ? 'ever' : one)) ?? ''
  return text(a) === text(b)
}
