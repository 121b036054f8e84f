import { networkError } from '@runnel/network'
import { protocolError, toNodeId, type RunnelError } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { Gate } from './gate.ts'

const userId = toNodeId(`0x${'a1'.repeat(20)}`)
const wallet = toNodeId(`0x${'b2'.repeat(20)}`)

function createGate({ hasAccount = true, account = undefined as typeof wallet | undefined } = {}) {
  const listing = { problem: undefined as RunnelError | undefined }
  const gate = new Gate({
    user: { userId, delegation: undefined },
    registry: { account, admission: { problemOf: () => listing.problem } },
    hasAccount,
  })
  const codes = () =>
    [gate.open, gate.owner, gate.member].map((enter) => codeOf(() => enter.call(gate, '/a')))
  return { gate, listing, codes }
}

function codeOf(enter: () => unknown): string {
  try {
    return String(enter())
  } catch (error) {
    return (error as RunnelError).code
  }
}

describe('the gate', () => {
  it('lets all calls in, and gives the stream that they are about', () => {
    expect(createGate().codes()).toEqual(Array(3).fill(`${userId}/a`))
  })

  it('takes the streams of the wallet that changes the registries, if there is one', () => {
    expect(createGate({ account: wallet }).gate.open('/a')).toBe(`${wallet}/a`)
    expect(createGate({ account: wallet, hasAccount: false }).gate.open('/a')).toBe(`${userId}/a`)
  })

  it('lets nobody change registries without an account', () => {
    expect(createGate({ hasAccount: false }).codes()).toEqual([`${userId}/a`, 'NO_USER_KEY', `${userId}/a`])
  })

  it('lets members in again once they are listed again', () => {
    const { listing, codes } = createGate()
    listing.problem = protocolError('NODE_NOT_LISTED', userId)
    expect(codes()).toEqual([`${userId}/a`, `${userId}/a`, 'NODE_NOT_LISTED'])
    listing.problem = undefined
    expect(codes()[2]).toBe(`${userId}/a`)
  })

  it('lets no member in that was replaced', () => {
    const { gate, codes } = createGate()
    gate.replaced(networkError('NODE_REPLACED', userId))
    expect(codes()).toEqual([`${userId}/a`, `${userId}/a`, 'NODE_REPLACED'])
  })

  it('lets nobody in when it is closed, and says so first', () => {
    const { gate, listing, codes } = createGate({ hasAccount: false })
    listing.problem = protocolError('NODE_NOT_LISTED', userId)
    gate.close()
    expect(codes()).toEqual(Array(3).fill('CLIENT_CLOSED'))
  })
})
