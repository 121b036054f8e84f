import { toNodeId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import type { SessionSubscription } from './session.ts'
import { SharedTurns } from './shared-turns.ts'
import { filterOf } from './topics.ts'

it('has each member of a group once, however often it is added', () => {
  const name = '$share/g/t'
  const filter = filterOf(name, toNodeId(`0x${'a'.repeat(40)}`))
  const session = { key: { account: 'a', clientId: 'c' }, isConnected: true }
  const member = { session, name, filter } as unknown as SessionSubscription
  const turns = new SharedTurns()
  for (let i = 0; i < 2; i++) turns.add(member)
  expect([...turns.next(() => true)]).toEqual([member])
  expect([turns.remove(member), turns.remove(member), turns.isEmpty]).toEqual([true, false, true])
})
