import type { Contact, NodeId } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contact, idOf } from '../core.testkit.ts'
import { reconcile, type EdgeView, type LinkView, type ReconcileInput } from './reconcile.ts'

const limits = {
  provisionalGraceMs: 5_000,
  retireMs: 5_000,
  maxRetiring: 3,
  attachTimeoutMs: 10_000,
  attachRetryMs: 1_000,
}
const nowMs = 100_000

const attached: EdgeView = {
  sent: true,
  received: true,
  sentAtMs: nowMs - 1_000,
  firstSentAtMs: nowMs - 1_000,
  retryAtMs: 0,
  unwantedSinceMs: undefined,
  wasWanted: true,
  reported: false,
  retiredAtMs: undefined,
  released: false,
}
const open: LinkView = { state: 'open', retryAtMs: 0 }

interface Situation {
  wanted?: number[]
  edges?: [number, Partial<EdgeView>][]
  links?: [number, LinkView][]
}

function input({ wanted = [], edges = [], links = [] }: Situation): ReconcileInput {
  return {
    wanted: new Map<NodeId, Contact>(wanted.map((n) => [idOf(n), contact])),
    edges: new Map(edges.map(([n, edge]) => [idOf(n), { ...attached, ...edge }])),
    rttOf: () => 100,
    links: new Map([...edges.map(([n]) => [n, open] as const), ...links].map(([n, link]) => [idOf(n), link])),
    nowMs,
    limits,
  }
}

/** A plan in one line. */
function planOf(situation: Situation): string {
  const plan = reconcile(input(situation))
  const short = (id: NodeId): number => Number.parseInt(id.slice(-4), 16)
  const steps = [
    ...plan.connect.map(({ peerId }) => `connect ${short(peerId)}`),
    ...plan.attach.map((peerId) => `attach ${short(peerId)}`),
    ...plan.retire.map((peerId) => `retire ${short(peerId)}`),
    ...plan.detach.map(({ peerId, reason }) => `detach ${short(peerId)} ${reason}`),
    ...plan.silent.map((peerId) => `silent ${short(peerId)}`),
    ...(plan.wakeAtMs === Infinity ? [] : [`wake +${plan.wakeAtMs - nowMs}`]),
  ]
  return `${plan.settled ? 'settled' : 'unsettled'}: ${steps.join(', ')}`
}

describe('reconcile', () => {
  const table: [string, Situation, string][] = [
    ['nothing wanted, nothing there', {}, 'settled: '],
    ['a new neighbour', { wanted: [2] }, 'unsettled: connect 2'],
    ['a link that opens', { wanted: [2], links: [[2, { state: 'opening', retryAtMs: 0 }]] }, 'unsettled: '],
    [
      'a link that failed',
      { wanted: [2], links: [[2, { state: 'closed', retryAtMs: nowMs + 700 }]] },
      'unsettled: wake +700',
    ],
    ['an open link', { wanted: [2], links: [[2, open]] }, 'unsettled: attach 2'],
    [
      'an attach without answer',
      { wanted: [2], edges: [[2, { received: false, sentAtMs: nowMs - 400 }]] },
      'unsettled: wake +600',
    ],
    [
      'an attach without answer for a while',
      {
        wanted: [2],
        edges: [[2, { received: false, sentAtMs: nowMs - 1_000, firstSentAtMs: nowMs - 4_000 }]],
      },
      'unsettled: attach 2, wake +6000',
    ],
    [
      'an attach without answer for too long',
      {
        wanted: [2],
        edges: [[2, { received: false, sentAtMs: nowMs - 500, firstSentAtMs: nowMs - 10_000 }]],
      },
      'unsettled: silent 2, wake +500',
    ],
    [
      'a refused attach',
      { wanted: [2], edges: [[2, { sent: false, received: false, retryAtMs: nowMs + 500 }]] },
      'unsettled: wake +500',
    ],
    [
      'all attached',
      {
        wanted: [2, 3],
        edges: [
          [2, {}],
          [3, {}],
        ],
      },
      'settled: ',
    ],
    [
      'one replaced, its replacement attached',
      {
        wanted: [3],
        edges: [
          [2, { unwantedSinceMs: nowMs }],
          [3, {}],
        ],
      },
      'settled: retire 2, wake +5000',
    ],
    [
      'one replaced, its replacement attached, but it may not have heard of it',
      {
        wanted: [3],
        edges: [
          [2, { unwantedSinceMs: nowMs }],
          [3, { sentAtMs: nowMs - 60 }],
        ],
      },
      'settled: wake +140',
    ],
    [
      'one replaced, its replacement attached, which means to end it',
      {
        wanted: [3],
        edges: [
          [2, { unwantedSinceMs: nowMs, released: true }],
          [3, { released: true }],
        ],
      },
      'settled: wake +5000',
    ],
    [
      'one replaced that needs us no more than we need it',
      {
        wanted: [3],
        edges: [
          [2, { unwantedSinceMs: nowMs, released: true }],
          [3, {}],
        ],
      },
      'settled: detach 2 replaced',
    ],
    [
      'one replaced that may still need us',
      {
        wanted: [3],
        edges: [
          [2, { unwantedSinceMs: nowMs - 1_000, retiredAtMs: nowMs - 400 }],
          [3, {}],
        ],
      },
      'settled: wake +600',
    ],
    [
      'one replaced that has not answered for a while',
      {
        wanted: [3],
        edges: [
          [2, { unwantedSinceMs: nowMs - 2_000, retiredAtMs: nowMs - 1_000 }],
          [3, {}],
        ],
      },
      'settled: retire 2, wake +3000',
    ],
    [
      'one replaced that needs us for long',
      {
        wanted: [3],
        edges: [
          [2, { unwantedSinceMs: nowMs - 5_000, retiredAtMs: nowMs - 400 }],
          [3, {}],
        ],
      },
      'settled: detach 2 not-wanted',
    ],
    [
      'one that was to go and is wanted again',
      { wanted: [2], edges: [[2, { retiredAtMs: nowMs - 400 }]] },
      'settled: attach 2',
    ],
    [
      'one replaced, its replacement not attached',
      { wanted: [3], edges: [[2, { unwantedSinceMs: nowMs - 1_000 }]], links: [[3, open]] },
      'unsettled: attach 3, wake +4000',
    ],
    [
      'one replaced, its replacement late',
      {
        wanted: [3],
        edges: [[2, { unwantedSinceMs: nowMs - 5_000 }]],
        links: [[3, { state: 'opening', retryAtMs: 0 }]],
      },
      'unsettled: detach 2 not-wanted',
    ],
    [
      'one that came on its own and went, its place taken',
      {
        wanted: [3],
        edges: [
          [2, { wasWanted: false, unwantedSinceMs: nowMs, released: true }],
          [3, {}],
        ],
      },
      'settled: detach 2 replaced',
    ],
    [
      'one that came on its own',
      { edges: [[2, { wasWanted: false, unwantedSinceMs: nowMs - 1_000 }]] },
      'settled: wake +4000',
    ],
    [
      'one that came on its own and was not ordered',
      { edges: [[2, { wasWanted: false, unwantedSinceMs: nowMs - 5_000 }]] },
      'settled: detach 2 not-wanted',
    ],
  ]
  it.each(table)('%s', (_, situation, expected) => expect(planOf(situation)).toBe(expected))

  const situations = fc.record({
    wanted: fc.uniqueArray(fc.integer({ min: 2, max: 9 })),
    edges: fc.uniqueArray(
      fc.tuple(
        fc.integer({ min: 2, max: 9 }),
        fc.record({
          sent: fc.boolean(),
          received: fc.boolean(),
          wasWanted: fc.boolean(),
          reported: fc.boolean(),
          retiredAtMs: fc.option(fc.integer({ min: nowMs - 2_000, max: nowMs }), { nil: undefined }),
          released: fc.boolean(),
          sentAtMs: fc.integer({ min: nowMs - 2_000, max: nowMs }),
          firstSentAtMs: fc.integer({ min: nowMs - 20_000, max: nowMs }),
          retryAtMs: fc.integer({ min: nowMs - 1_000, max: nowMs + 1_000 }),
          unwantedSinceMs: fc.integer({ min: nowMs - 10_000, max: nowMs }),
        }),
      ),
      { selector: ([peer]) => peer },
    ),
  })

  it('lets those go at once that have been unwanted for longest, when there are too many', () => {
    const unwanted = [4, 1, 5, 2, 3].map((agoS, i): [number, Partial<EdgeView>] => [
      10 + i,
      { unwantedSinceMs: nowMs - 500 * agoS },
    ])
    const edges: Situation['edges'] = [...unwanted, [20, { wasWanted: false, unwantedSinceMs: nowMs }]]
    expect(planOf({ wanted: [2], links: [[2, { state: 'opening', retryAtMs: 0 }]], edges })).toBe(
      'unsettled: detach 10 not-wanted, detach 12 not-wanted, wake +3500',
    )
  })

  it('never detaches what is wanted, nor all it has while the wanted ones are not there and the time is not up', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const given = input(situation)
        const plan = reconcile(given)
        const toGo = [...given.edges].filter(
          ([id, edge]) => edge.sent && edge.wasWanted && !given.wanted.has(id),
        )
        const isCrowded = toGo.length > limits.maxRetiring
        for (const { peerId, reason } of plan.detach) {
          expect(given.wanted.has(peerId)).toBe(false)
          const edge = given.edges.get(peerId)
          const recent = (edge?.unwantedSinceMs ?? nowMs) > nowMs - limits.retireMs
          if (reason === 'replaced') expect(plan.settled && edge?.released).toBe(true)
          else expect(recent && edge?.wasWanted && !isCrowded).toBe(false)
        }
        expect(toGo.length - plan.detach.length).toBeLessThanOrEqual(limits.maxRetiring)
        for (const peerId of plan.retire) {
          expect(given.wanted.has(peerId)).toBe(false)
          expect(plan.settled).toBe(true)
        }
        for (const peerId of plan.attach) expect(given.links.get(peerId)?.state).toBe('open')
        for (const { peerId } of plan.connect)
          expect(given.links.get(peerId)?.state ?? 'closed').toBe('closed')
        expect(plan.wakeAtMs).toBeGreaterThan(nowMs)
      }),
    )
  })
})
