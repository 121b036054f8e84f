import { toNodeId, toStreamId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { conformanceNetwork, describeRegistryReaders } from './readers.conformance.testkit.ts'
import { staticNetworkSchema } from './static-network.ts'
import { createStaticRegistries } from './static-registries.ts'

const registries = createStaticRegistries(staticNetworkSchema.parse(conformanceNetwork))

describeRegistryReaders(
  'static document',
  () => registries,
  () => 0,
)

it('refuses every change, and says what to do', async () => {
  const id = toStreamId(`${'0x' + '1'.repeat(40)}/a`)
  const user = toNodeId('0x' + '1'.repeat(40))
  const { streams, storage, delegations } = registries
  for (const change of [
    streams.createStream({ id, metadata: '', partitions: 1, trackers: [] }),
    streams.deleteStream(id),
    streams.grant(id, { user, permissions: ['publish'], untilMs: Infinity }),
    streams.revoke(id, { user, permissions: ['publish'] }),
    storage.assign(id, user),
    storage.unassign(id, user),
    storage.register('ws://one.example'),
    delegations.revokeDelegate(user),
    delegations.revokeDelegations(1),
  ]) {
    await expect(change).rejects.toMatchObject({ code: 'REGISTRY_READ_ONLY' })
  }
})
