import { limits } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { runIdentities } from './identities-run.ts'
import { runPrivate } from './private-run.ts'

const messagesEach = 2

describe('a public network', () => {
  it.each(['one', 'each'] as const)(
    'delivers what delegates publish, and checks each delegation once a node: identities %s',
    async (identities) => {
      const [processes, publishers] = [40, 10]
      const options = { seed: '1', identities, processes, publishers, guests: 0, degree: 4 }
      const report = await runIdentities(options)
      expect(report.expected).toBe(publishers * messagesEach * (processes - 1))
      expect(report).toMatchObject({ delivered: report.expected, deliveredAgain: 0, mostChecksOfOne: 1 })
      expect(report.remembered).toBe(processes * publishers)
      // Each node checks those of the publishers but itself, and some of its neighbours'.
      expect(report.checks).toBeGreaterThanOrEqual((processes - 1) * publishers)
    },
  )

  it('has room for others where one identity with many processes fills the tables', async () => {
    const [processes, publishers, guests] = [40, 10, 6]
    const { guests: report } = await runIdentities({
      ...{ seed: '1', identities: 'one', processes, publishers, guests, degree: 4 },
    })
    expect(report).toMatchObject({ placed: guests, places: processes, evicted: guests })
    expect(report.expected).toBe(guests * messagesEach * (processes - 1))
    expect(report).toMatchObject({ delivered: report.expected, deliveredAgain: 0 })
    // At each process that kept its place, every chain of a guest takes the place of one of the identity's own.
    expect(report.chainsDropped).toBe((processes - guests) * guests)
  })
})

it('lets 16 nodes of each user into a private network, and refuses the 17th', async () => {
  const users = 3
  expect(await runPrivate({ seed: '1', users, degree: 4 })).toEqual({
    placed: users * limits.maxNodesOfUser,
    mostOfUser: limits.maxNodesOfUser,
    refused: { TOO_MANY_NODES_OF_USER: users, NODE_NOT_LISTED: 1 },
    connected: users * limits.maxNodesOfUser,
  })
})
