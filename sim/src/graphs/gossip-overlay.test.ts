import { seededRandom } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { gossipOverlay, largestPiece } from './gossip-overlay.ts'

const options = { nodes: 200, viewSize: 20, rounds: 30 }

it('keeps an overlay of gossiping nodes in one piece, until hubs are all they know', () => {
  expect(largestPiece(gossipOverlay({ ...options, attackers: 0 }, seededRandom('a')))).toBe(1)
  const attacked = gossipOverlay({ ...options, attackers: 20 }, seededRandom('a'))
  expect(largestPiece(attacked)).toBeLessThan(0.1)
})

it('finds the largest piece, over edges that one end has', () => {
  expect(largestPiece([])).toBe(0)
  expect(largestPiece([new Set([1]), new Set(), new Set([9])])).toBeCloseTo(2 / 3)
})
