import { afterEach, expect, it } from 'vitest'
import type { HostNews, WithheldMessages } from '../ports.ts'
import {
  identityOf,
  neighboursOf,
  partId,
  Swarm,
  TestPublisher,
  turn,
  type Member,
} from '../network.testkit.ts'

let swarm: Swarm
const started: Member[] = []

afterEach(async () => {
  for (const member of started.splice(0)) await turn(swarm, member.node.stop())
})

/** A light node, with what it tells of its hosts. */
async function light(name: string, hosts: readonly string[], atOnce = 2) {
  const options = {
    hosts: { hosts: hosts.map((host) => ({ url: `memory:${identityOf(host).nodeId}` })), atOnce },
  }
  const member = swarm.make(name, options)
  const news: HostNews[] = []
  const withheld: WithheldMessages[] = []
  member.node.on('host', (told) => news.push(told))
  member.node.on('withheld', (told) => withheld.push(told))
  await member.node.start()
  started.push(member)
  return { ...member, news, withheld }
}

async function host(name: string, joins = true): Promise<Member> {
  const member = swarm.make(name, { servesGuests: true })
  await member.node.start()
  if (joins) member.node.join(partId)
  started.push(member)
  return member
}

async function world(): Promise<void> {
  swarm = new Swarm()
  started.push(...(await swarm.grow(4)))
}

it('reads and publishes through a host, and is in no overlay', async () => {
  await world()
  const first = await host('host 0')
  swarm.clock.advanceBy(2_000)
  const guest = await light('guest', ['host 0'])
  guest.node.join(partId)
  swarm.clock.advanceBy(1_000)
  const publisher = new TestPublisher('publisher', swarm.clock)
  started[0]?.node.publish(publisher.next('to all'))
  guest.node.publish(new TestPublisher('guest', swarm.clock).next('of the guest'))
  swarm.clock.advanceBy(1_000)
  for (const member of [...started]) expect(member.texts().toSorted()).toEqual(['of the guest', 'to all'])
  expect(guest.node.neighboursOf(partId)).toEqual([first.node.nodeId])
  expect(neighboursOf(first)).not.toContain(guest.node.nodeId)
  expect(swarm.tracker.lastStatus(guest.node.nodeId)).toBeUndefined()
  expect(swarm.tracker.lastStatus(first.node.nodeId)?.neighbours.map(({ nodeId }) => nodeId)).not.toContain(
    guest.node.nodeId,
  )
})
