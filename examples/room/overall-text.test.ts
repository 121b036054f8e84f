import { expect, it } from 'vitest'
import { overallText } from './overall-text.ts'

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
