import { expect, it } from 'vitest'
import { overallText, pictureText, roundTripsMs } from './overall-text.ts'

it('says that there is nobody, where there is nobody', () => {
  expect(overallText({ 'urgent.published': 50, 'urgent.messages': 50 }, [])).toBe(
    'No neighbours: nobody is linked to you.',
  )
})

it('leaves out figures of what has not come yet', () => {
  expect(overallText({ 'urgent.published': 50, 'urgent.messages': 50 }, [undefined])).toBe(
    '1 neighbour; 0 packets sent again because links lost them.',
  )
})

it('tells how many copies came, and what was dropped', () => {
  const counters = {
    ...{ 'urgent.messages': 150, 'urgent.published': 50, 'urgent.duplicates': 25, 'urgent.forwarded': 50 },
    ...{ 'urgent.late': 25, 'urgent.repeated': 3, 'urgent.overShare': 7 },
  }
  expect(overallText(counters, [10, 30, undefined])).toBe(
    '3 neighbours, 20 ms round trip; 1.25 copies of each message received; 12.5 % of all copies dropped because they were late; 3 packets sent again because links lost them. 7 messages dropped, because somebody sends more than one member may.',
  )
})

it("counts the neighbours in the room's stream, each of them once", () => {
  const part = (streamPartId: string, ...nodeIds: string[]) => ({
    streamPartId,
    neighbours: nodeIds.map((nodeId, i) => ({ nodeId, rttMs: 10 * i })),
  })
  const parts = [part('0xa/rooms#0', 'ben', 'carla'), part('0xa/rooms#1', 'ben'), part('0xa/rooms-2#0', 'x')]
  expect(roundTripsMs(parts, '0xa/rooms')).toEqual([0, 10])
})

it('says how high a picture is and how often it is painted, unless there is only sound', () => {
  expect(pictureText(180, 14.6, 'shown')).toBe('180p, 15/s')
  expect(pictureText(180, 0, 'awaited')).toBe('180p, 0/s')
  for (const state of ['paused', 'refused'] as const) expect(pictureText(180, 0, state)).toBe('sound only')
  expect(pictureText(undefined, 0, 'none')).toBe('none')
})
