import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newApiKey } from '../access/keys-file.ts'
import { mosquittoPub, mosquittoSub } from './mosquitto.testkit.ts'
import { MqttNetwork, type Gateway } from './mqtt-network.testkit.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}`)

describe('mosquitto_pub at one gateway and mosquitto_sub at another', { timeout: 60_000 }, () => {
  const network = new MqttNetwork()
  const slowKey = newApiKey()
  let gateways: readonly Gateway[] = []

  beforeAll(async () => {
    await network.start([{ path: 'sensors/kitchen' }, { path: 'sensors/hall' }])
    network.addKey({ name: 'slow', publish: ['/#'], ...network.ofOwner(slowKey), maxMessagesPerS: 5 })
    gateways = [await network.gateway(), await network.gateway()]
    await network.relay(['sensors/kitchen'])
  })
  afterAll(() => network.stop())

  const at = (index: number, more: object = {}) => ({
    ...{ port: gateways[index]?.port ?? 0, key: network.apiKey, topic: 'sensors/kitchen', ...more },
  })

  for (const version of ['311', '5'] as const)
    for (const qos of [0, 1] as const)
      it(`pass messages on in order, with version ${version} and QoS ${qos}`, async () => {
        const subscriber = mosquittoSub(at(1, { version, qos }))
        await subscriber.subscribed
        await mosquittoPub(at(0, { version, qos }), numbers(100))
        expect(await subscriber.take(100)).toEqual(numbers(100).map((text) => `sensors/kitchen|0|${text}`))
        await subscriber.end()
      })

  it('pass on what is published under a filter with wildcards, with topics as the filter is written', async () => {
    const { nodeId } = network.owner
    const subscriber = mosquittoSub(at(1, { topic: `${nodeId}/sensors/#`, qos: 1 }))
    await subscriber.subscribed
    await mosquittoPub(at(0, { topic: 'sensors/hall', qos: 1 }), ['{"t":21}'])
    expect(await subscriber.take(1)).toEqual([`${nodeId}/sensors/hall|0|{"t":21}`])
    await subscriber.end()
  })

  it('lose nothing above the rate of the key, though mosquitto_pub leaves when it has sent all', async () => {
    const subscriber = mosquittoSub(at(1))
    await subscriber.subscribed
    await mosquittoPub(at(0, { key: slowKey }), numbers(10))
    expect(await subscriber.take(10)).toEqual(numbers(10).map((text) => `sensors/kitchen|0|${text}`))
    await subscriber.end()
  })

  it('are refused with a wrong key', async () => {
    await expect(mosquittoPub(at(0, { key: 'rk_wrong' }), ['x'])).rejects.toThrow(
      /not authori[sz]ed|bad user/i,
    )
  })
})
