import {
  limits,
  loadCrypto,
  signDelegation,
  type ActingFor,
  type Delegation,
  type NodeAdmission,
  type NodeId,
} from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../ports.ts'
import { admissionProblem } from './admission-problem.ts'
import { identityOf } from './links.testkit.ts'

const crypto = await loadCrypto()
const user = identityOf('user')
const nodeIdOf = (n: number): NodeId => identityOf(`node ${n}`).nodeId

function actingFor(delegateId: NodeId): ActingFor {
  const claim = { chainId: 0, userId: user.nodeId, delegateId, fromMs: 0, untilMs: 60_000, block: 0 }
  const rights = { publishes: true, reads: true, streams: [], requester: '' }
  const delegation = signDelegation({ ...claim, ...rights }, crypto, user)
  return { userId: user.nodeId, delegation, untilMs: 60_000, isKeySigned: true }
}

/** What is asked about a connection; the rest of it is not. */
const connectionOf = (peerId: NodeId, acting?: ActingFor, remoteAddress?: string) =>
  ({ peerId, actingFor: acting, remoteAddress }) as Connection

type Question = Parameters<NodeAdmission['allows']>

/** One that lists the user and its first node, and writes down what it is asked. */
function listing(revoked?: Delegation) {
  const asked: Question[] = []
  const admission: NodeAdmission = {
    isPrivate: true,
    allows: (...question) => {
      asked.push(question)
      const [userId, delegation] = question
      return userId === user.nodeId && (delegation === undefined || delegation !== revoked)
    },
    onChange: () => () => {},
  }
  return { admission, asked }
}

describe('admission to a private network', () => {
  it('is asked about in the name of the network that the node comes from, so that it pays for the look-ups', () => {
    const { admission, asked } = listing()
    const peerId = nodeIdOf(1)
    const acting = actingFor(peerId)
    expect(admissionProblem(connectionOf(peerId, acting, '192.0.2.77'), [], admission)).toBeUndefined()
    expect(admissionProblem(connectionOf(peerId, acting), [], admission)).toBeUndefined()
    expect(asked).toEqual([
      [user.nodeId, undefined, '192.0.2.0/24'],
      [user.nodeId, acting.delegation, '192.0.2.0/24'],
      [user.nodeId, undefined, peerId],
      [user.nodeId, acting.delegation, peerId],
    ])
  })

  it('says whether it is the user that is not listed, or its delegation that is taken back', () => {
    const peerId = nodeIdOf(1)
    const acting = actingFor(peerId)
    const { admission, asked } = listing(acting.delegation)
    expect(admissionProblem(connectionOf(peerId), [], admission)?.code).toBe('NODE_NOT_LISTED')
    expect(asked).toHaveLength(1)
    const revoked = admissionProblem(connectionOf(peerId, acting), [], admission)
    expect(revoked).toMatchObject({
      code: 'DELEGATION_REVOKED',
      message: expect.stringContaining(user.nodeId),
    })
  })

  it('is for so many nodes of a user, whichever connections they have', () => {
    const { admission } = listing()
    const open = Array.from({ length: limits.maxNodesOfUser }, (_, n) =>
      connectionOf(nodeIdOf(n), actingFor(nodeIdOf(n))),
    )
    const strangers = [connectionOf(nodeIdOf(100))]
    const problemOf = (n: number, others: Connection[]) =>
      admissionProblem(connectionOf(nodeIdOf(n), actingFor(nodeIdOf(n))), others, admission)?.code
    expect(problemOf(99, open)).toBe('TOO_MANY_NODES_OF_USER')
    expect(problemOf(0, open)).toBeUndefined()
    expect(problemOf(99, [...open.slice(1), ...strangers])).toBeUndefined()
  })

  it('is not asked about where all are let in', () => {
    const { admission, asked } = listing()
    const connection = connectionOf(nodeIdOf(1), actingFor(nodeIdOf(1)))
    expect(admissionProblem(connection, [], { ...admission, isPrivate: false })).toBeUndefined()
    expect(admissionProblem(connection, [], undefined)).toBeUndefined()
    expect(asked).toEqual([])
  })
})
