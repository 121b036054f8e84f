import { JsonRpcProvider, Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import { useChain } from './chain.testkit.ts'
import { deployRegistries } from './deploy.ts'
import { storageRegistry, trackerRegistry } from './registries.ts'

const chain = useChain()

describe('deployRegistries', () => {
  it('deploys three registries that belong together and to the signer', async () => {
    const { alice, provider } = chain()
    const addresses = await deployRegistries(alice)
    expect(new Set(Object.values(addresses)).size).toBe(3)
    expect(await trackerRegistry(addresses.trackerRegistry, provider).owner()).toBe(alice.address)
    const storage = storageRegistry(addresses.storageRegistry, provider)
    expect(await storage.streamRegistry()).toBe(addresses.streamRegistry)
  })

  it('does not stumble over the cache of a provider', async () => {
    const { alice, url } = chain()
    const caching = new JsonRpcProvider(url, 31337, { staticNetwork: true, cacheTimeout: 60_000 })
    try {
      const addresses = await deployRegistries(alice.connect(caching))
      expect(new Set(Object.values(addresses)).size).toBe(3)
    } finally {
      caching.destroy()
    }
  })

  it('tells why it failed, without the bytecode', async () => {
    const poor = Wallet.createRandom(chain().provider)
    await expect(deployRegistries(poor)).rejects.toMatchObject({
      code: 'DEPLOY_FAILED',
      message: expect.stringMatching(/^The registries could not be deployed: insufficient funds.{0,80}$/),
    })
    await expect(deployRegistries(Wallet.createRandom())).rejects.toMatchObject({ code: 'DEPLOY_FAILED' })
  })
})
