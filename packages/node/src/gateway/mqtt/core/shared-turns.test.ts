import { toNodeId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import type { SessionSubscription } from './session.ts'
import { SharedTurns } from './shared-turns.ts'
import { filterOf } from './topics.ts'

const name = '$share/g/t'
const filter = filterOf(name, toNodeId(`0x${'a'.repeat(40)}`))

function memberOf(clientId: string, isConnected: boolean, qos: 0 | 1): SessionSubscription {
  const session = { key: { account: 'a', clientId }, isConnected }
  return { session, name, filter, options: { qos } } as unknown as SessionSubscription
}

it('has each member of a group once, however often it is added', () => {
  const member = memberOf('c', true, 1)
  const turns = new SharedTurns()
  for (let i = 0; i < 2; i++) turns.add(member)
  expect([...turns.next(() => true)]).toEqual([member])
  expect([turns.remove(member), turns.remove(member), turns.isEmpty]).toEqual([true, false, true])
})

it('gives nothing to a member that is away and would lose it, while another keeps it', () => {
  const turns = new SharedTurns()
  const [loses, keeps] = [memberOf('loses', false, 0), memberOf('keeps', false, 1)]
  for (const member of [loses, keeps]) turns.add(member)
  for (let i = 0; i < 3; i++) expect([...turns.next(() => true)]).toEqual([keeps])
  turns.remove(keeps)
  expect([...turns.next(() => true)]).toEqual([])
})
