import { Contract, id, Wallet, ZeroAddress, ZeroHash } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { compileTestContract } from '../scripts/compile.ts'
import { eventsOf, mined, plain, revertOf, useChain } from './chain.testkit.ts'
import { deployContract, deployRegistries } from './deploy.ts'
import * as compiled from './generated/permissioned-tracker-registry.ts'
import { listsNodes, permissionedTrackerRegistry, type PermissionedTrackerRegistry } from './registries.ts'

const chain = useChain()
/** Somebody who is in no list. */
const stranger = '0x00000000000000000000000000000000000000AA'
let registry: PermissionedTrackerRegistry

beforeEach(async () => {
  const { owner } = chain()
  registry = permissionedTrackerRegistry(await deployContract(compiled, owner, [owner.address]), owner)
})

describe('PermissionedTrackerRegistry', () => {
  it('lists nobody at first, and trackers as any tracker registry', async () => {
    const { alice } = chain()
    expect(await registry.nodeCount()).toBe(0n)
    expect(plain(await registry.listNodes(0, 10))).toEqual([])
    await mined(registry.addTracker(alice.address, 'wss://tracker.example', ''))
    expect(await registry.isTracker(alice.address)).toBe(true)
    expect(await registry.isNodeAllowed(alice.address)).toBe(false)
  })

  it('tells that it lists nodes, where an open registry tells that it does not', async () => {
    const { owner, trackers, provider } = chain()
    expect(await listsNodes(String(registry.target), provider)).toBe(true)
    expect(await listsNodes(String(trackers.target), provider)).toBe(false)
    await expect(listsNodes(owner.address, provider)).rejects.toMatchObject({ code: 'BAD_DATA' })
  })

  it('lists and removes nodes by batches, and tells only what changed', async () => {
    const { owner, alice, bob } = chain()
    const allowed = (node: string) => ({ name: 'NodeAllowed', args: { node } })
    const removed = (node: string) => ({ name: 'NodeRemoved', args: { node } })
    const first = registry.allowNodes([alice.address, bob.address])
    expect(await eventsOf(registry, first)).toEqual([allowed(alice.address), allowed(bob.address)])
    const again = registry.allowNodes([bob.address, owner.address, owner.address])
    expect(await eventsOf(registry, again)).toEqual([allowed(owner.address)])
    expect(await registry.nodeCount()).toBe(3n)
    const end = registry.removeNodes([alice.address, alice.address, stranger])
    expect(await eventsOf(registry, end)).toEqual([removed(alice.address)])
    expect(await registry.isNodeAllowed(alice.address)).toBe(false)
    expect(await registry.isNodeAllowed(bob.address)).toBe(true)
    expect(await eventsOf(registry, registry.allowNodes([alice.address]))).toEqual([allowed(alice.address)])
  })

  it('reads by pages, also past the end', async () => {
    const { owner, alice, bob } = chain()
    const all = [owner.address, alice.address, bob.address]
    await mined(registry.allowNodes(all))
    expect(plain(await registry.listNodes(0, 2))).toEqual(all.slice(0, 2))
    expect(plain(await registry.listNodes(2, 2))).toEqual(all.slice(2))
    expect(plain(await registry.listNodes(3, 2))).toEqual([])
    expect(plain(await registry.listNodes(1, 2n ** 256n - 1n))).toEqual(all.slice(1))
  })

  it('takes as many nodes at once as fit into a block, and no more', async () => {
    const nodes = Array.from({ length: 201 }, () => Wallet.createRandom().address)
    const most = await (await registry.allowNodes(nodes.slice(1))).wait()
    expect(Number(most?.gasUsed)).toBeLessThan(15_000_000)
    expect(await registry.nodeCount()).toBe(200n)
    const expected = {
      name: 'PermissionedTrackerRegistry__TooManyNodes',
      args: { count: 201n, maxCount: 200n },
    }
    expect(await revertOf(registry.allowNodes(nodes))).toMatchObject(expected)
    expect(await revertOf(registry.removeNodes(nodes))).toMatchObject(expected)
    await mined(registry.removeNodes(nodes.slice(1)))
    expect(await registry.nodeCount()).toBe(0n)
  })

  it('refuses the zero address, and with it the batch', async () => {
    const { alice } = chain()
    expect(await revertOf(registry.allowNodes([alice.address, ZeroAddress]))).toMatchObject({
      name: 'PermissionedTrackerRegistry__InvalidNode',
      args: { node: ZeroAddress },
    })
    expect(await registry.nodeCount()).toBe(0n)
  })

  it('refuses changes by anybody but the owner, a listed node and a tracker included', async () => {
    const { alice } = chain()
    await mined(registry.allowNodes([alice.address]))
    await mined(registry.addTracker(alice.address, 'wss://tracker.example', ''))
    const hers = registry.connect(alice)
    const expected = { name: 'OwnableUnauthorizedAccount', args: { account: alice.address } }
    expect(await revertOf(hers.allowNodes([stranger]))).toMatchObject(expected)
    expect(await revertOf(hers.removeNodes([alice.address]))).toMatchObject(expected)
  })

  it('is handed over in two steps; only then the new owner changes the list', async () => {
    const { owner, alice } = chain()
    const hers = registry.connect(alice)
    await mined(registry.transferOwnership(alice.address))
    expect(await revertOf(hers.allowNodes([stranger]))).toMatchObject({ name: 'OwnableUnauthorizedAccount' })
    await mined(hers.acceptOwnership())
    await mined(hers.allowNodes([stranger]))
    expect(await revertOf(registry.removeNodes([stranger]))).toMatchObject({
      name: 'OwnableUnauthorizedAccount',
      args: { account: owner.address },
    })
  })
})

describe('a consortium', () => {
  it('owns the registry as a contract, from its deployment or by taking it over', async () => {
    const { owner, alice, bob, provider } = chain()
    const source = '@openzeppelin/contracts/governance/TimelockController.sol'
    const timelock = compileTestContract(source, 'TimelockController')
    // Alice proposes, Bob executes: neither can change the list alone.
    const args = [0, [alice.address], [bob.address], ZeroAddress] as const
    const address = await deployContract(timelock, owner, args)
    const consortium = new Contract(address, timelock.abi, provider)
    const decide = async (target: string, data: string) => {
      const decision = [target, 0, data, ZeroHash, id(data + target)]
      const send = (name: string, args: readonly unknown[], runner: Wallet) =>
        (consortium.connect(runner) as Contract).getFunction(name).send(...args)
      await mined(send('schedule', [...decision, 0], alice))
      await mined(send('execute', decision, bob))
    }
    const allow = registry.interface.encodeFunctionData('allowNodes', [[alice.address, bob.address]])

    const addresses = await deployRegistries(owner, { permissioned: true, owner: address })
    const deployed = permissionedTrackerRegistry(addresses.trackerRegistry, owner)
    expect(await deployed.owner()).toBe(address)
    expect(await revertOf(deployed.allowNodes([owner.address]))).toMatchObject({
      name: 'OwnableUnauthorizedAccount',
    })
    await decide(addresses.trackerRegistry, allow)
    expect(plain(await deployed.listNodes(0, 9))).toEqual([alice.address, bob.address])

    await mined(registry.transferOwnership(address))
    await decide(String(registry.target), registry.interface.encodeFunctionData('acceptOwnership'))
    await decide(String(registry.target), allow)
    expect(await registry.owner()).toBe(address)
    expect(await registry.nodeCount()).toBe(2n)
  })
})
