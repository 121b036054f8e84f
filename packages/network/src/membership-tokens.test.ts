import { expect, it } from 'vitest'
import { identityOf, partId, Swarm } from './network.testkit.ts'

it('what trackers know of a node that acts for a user never has a token that is over', async () => {
  const swarm = new Swarm()
  await swarm.grow(1)
  const user = identityOf('user')
  const { node } = swarm.make('of a user', {}, undefined, undefined, { user })
  await node.start()
  node.join(partId)
  swarm.clock.advanceBy(5_000)
  const expiries = new Set<number>()
  for (let hour = 0; hour < 3; hour += 0.25) {
    swarm.clock.advanceBy(900_000)
    const token = swarm.tracker.lastStatus(node.nodeId)?.membership?.token
    expect(token?.userId).toBe(user.nodeId)
    expect(token?.expiresMs).toBeGreaterThan(swarm.clock.now() + 900_000)
    expiries.add(token?.expiresMs ?? 0)
  }
  expect(expiries.size).toBeLessThan(9)
})
