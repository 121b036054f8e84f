import { ZeroAddress } from 'ethers'
import { describe, expect, it } from 'vitest'
import { eventsOf, mined, plain, revertOf, useChain } from './chain.testkit.ts'
import { deployContract } from './deploy.ts'
import * as compiledTracker from './generated/tracker-registry.ts'

const chain = useChain()
const url = 'wss://tracker.example:30300'

describe('TrackerRegistry', () => {
  it('is empty at first and owned by the deployer', async () => {
    const { trackers, owner } = chain()
    expect(await trackers.owner()).toBe(owner.address)
    expect(await trackers.trackerCount()).toBe(0n)
    expect(plain(await trackers.listTrackers(0, 10))).toEqual([])
  })

  it('adds, finds and lists trackers', async () => {
    const { trackers, alice, bob } = chain()
    const events = await eventsOf(trackers, trackers.addTracker(alice.address, url, '{"region":"eu"}'))
    expect(events).toEqual([
      { name: 'TrackerAdded', args: { tracker: alice.address, url, metadata: '{"region":"eu"}' } },
    ])
    await mined(trackers.addTracker(bob.address, url, ''))
    expect(await trackers.isTracker(alice.address)).toBe(true)
    expect(await trackers.trackerCount()).toBe(2n)
    expect(plain(await trackers.getTracker(bob.address))).toEqual({ tracker: bob.address, url, metadata: '' })
  })

  it('reads by pages, also past the end', async () => {
    const { trackers, owner, alice, bob } = chain()
    for (const { address } of [owner, alice, bob]) await mined(trackers.addTracker(address, url, ''))
    const page = async (offset: bigint | number, limit: bigint | number) =>
      (await trackers.listTrackers(offset, limit)).map((it) => it.tracker)
    expect(await page(0, 2)).toEqual([owner.address, alice.address])
    expect(await page(2, 2)).toEqual([bob.address])
    expect(await page(3, 2)).toEqual([])
    expect(await page(1, 2n ** 256n - 1n)).toEqual([alice.address, bob.address])
  })

  it('lets the owner and the tracker itself update it', async () => {
    const { trackers, alice } = chain()
    await mined(trackers.addTracker(alice.address, url, ''))
    await mined(trackers.updateTracker(alice.address, 'wss://one.example', ''))
    const update = trackers.connect(alice).updateTracker(alice.address, 'wss://two.example', 'm')
    expect(await eventsOf(trackers, update)).toEqual([
      { name: 'TrackerUpdated', args: { tracker: alice.address, url: 'wss://two.example', metadata: 'm' } },
    ])
    expect((await trackers.getTracker(alice.address)).url).toBe('wss://two.example')
  })

  it('removes a tracker, which may come back', async () => {
    const { trackers, alice } = chain()
    await mined(trackers.addTracker(alice.address, url, ''))
    expect(await eventsOf(trackers, trackers.removeTracker(alice.address))).toEqual([
      { name: 'TrackerRemoved', args: { tracker: alice.address } },
    ])
    expect(await trackers.isTracker(alice.address)).toBe(false)
    expect(await trackers.trackerCount()).toBe(0n)
    await mined(trackers.addTracker(alice.address, url, ''))
    expect(await trackers.isTracker(alice.address)).toBe(true)
  })

  it('is handed over in two steps', async () => {
    const { trackers, owner, alice } = chain()
    await mined(trackers.transferOwnership(alice.address))
    expect(await trackers.owner()).toBe(owner.address)
    await mined(trackers.connect(alice).acceptOwnership())
    expect(await trackers.owner()).toBe(alice.address)
  })

  it('accepts the longest URL and metadata', async () => {
    const { trackers, alice } = chain()
    await mined(trackers.addTracker(alice.address, 'u'.repeat(256), 'm'.repeat(1024)))
    expect((await trackers.getTracker(alice.address)).metadata).toHaveLength(1024)
  })
})

describe('TrackerRegistry refuses', () => {
  it('adding and removing by anybody but the owner', async () => {
    const { trackers, alice } = chain()
    const stranger = trackers.connect(alice)
    const expected = { name: 'OwnableUnauthorizedAccount', args: { account: alice.address } }
    expect(await revertOf(stranger.addTracker(alice.address, url, ''))).toMatchObject(expected)
    expect(await revertOf(stranger.removeTracker(alice.address))).toMatchObject(expected)
  })

  it('a handover, or its abandonment, by anybody but the owner', async () => {
    const { trackers, alice } = chain()
    const stranger = trackers.connect(alice)
    const expected = { name: 'OwnableUnauthorizedAccount', args: { account: alice.address } }
    expect(await revertOf(stranger.transferOwnership(alice.address))).toMatchObject(expected)
    expect(await revertOf(stranger.renounceOwnership())).toMatchObject(expected)
  })

  it('nobody as its owner', async () => {
    const { owner } = chain()
    expect(await revertOf(deployContract(compiledTracker, owner, [ZeroAddress]))).toMatchObject({
      name: 'OwnableInvalidOwner',
      args: { owner: ZeroAddress },
    })
  })

  it('a handover to be accepted by anybody but the new owner', async () => {
    const { trackers, alice, bob } = chain()
    await mined(trackers.transferOwnership(alice.address))
    expect(await revertOf(trackers.connect(bob).acceptOwnership())).toMatchObject({
      name: 'OwnableUnauthorizedAccount',
      args: { account: bob.address },
    })
  })

  it('the zero address', async () => {
    const { trackers } = chain()
    expect(await revertOf(trackers.addTracker(ZeroAddress, url, ''))).toMatchObject({
      name: 'TrackerRegistry__InvalidTracker',
      args: { tracker: ZeroAddress },
    })
  })

  it('a tracker twice', async () => {
    const { trackers, alice } = chain()
    await mined(trackers.addTracker(alice.address, url, ''))
    expect(await revertOf(trackers.addTracker(alice.address, url, ''))).toMatchObject({
      name: 'TrackerRegistry__AlreadyExists',
      args: { tracker: alice.address },
    })
  })

  it('an update by a third party, a tracker or not', async () => {
    const { trackers, alice, bob } = chain()
    await mined(trackers.addTracker(alice.address, url, ''))
    await mined(trackers.addTracker(bob.address, url, ''))
    expect(await revertOf(trackers.connect(bob).updateTracker(alice.address, url, ''))).toMatchObject({
      name: 'TrackerRegistry__NotPermitted',
      args: { caller: bob.address, tracker: alice.address },
    })
  })

  it('to update, remove or return what is not there', async () => {
    const { trackers, alice } = chain()
    const expected = { name: 'TrackerRegistry__NotFound', args: { tracker: alice.address } }
    expect(await revertOf(trackers.updateTracker(alice.address, url, ''))).toMatchObject(expected)
    expect(await revertOf(trackers.connect(alice).updateTracker(alice.address, url, ''))).toMatchObject(
      expected,
    )
    expect(await revertOf(trackers.removeTracker(alice.address))).toMatchObject(expected)
    expect(await revertOf(trackers.getTracker(alice.address))).toMatchObject(expected)
  })

  it.each([
    { length: 'none', badUrl: '' },
    { length: 'one byte too many', badUrl: 'u'.repeat(257) },
  ])('a URL of $length', async ({ badUrl }) => {
    const { trackers, alice, bob } = chain()
    await mined(trackers.addTracker(bob.address, url, ''))
    const expected = {
      name: 'TrackerRegistry__InvalidUrl',
      args: { lengthBytes: BigInt(badUrl.length), maxBytes: 256n },
    }
    expect(await revertOf(trackers.addTracker(alice.address, badUrl, ''))).toMatchObject(expected)
    expect(await revertOf(trackers.updateTracker(bob.address, badUrl, ''))).toMatchObject(expected)
  })

  it('metadata that is too long, counted in bytes', async () => {
    const { trackers, alice, bob } = chain()
    await mined(trackers.addTracker(bob.address, url, ''))
    const metadata = 'é'.repeat(513)
    const expected = {
      name: 'TrackerRegistry__MetadataTooLong',
      args: { lengthBytes: 1026n, maxBytes: 1024n },
    }
    expect(await revertOf(trackers.addTracker(alice.address, url, metadata))).toMatchObject(expected)
    expect(await revertOf(trackers.updateTracker(bob.address, url, metadata))).toMatchObject(expected)
  })
})
