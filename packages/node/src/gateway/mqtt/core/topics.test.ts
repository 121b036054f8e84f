import { toNodeId, toStreamId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { Reason } from './reasons.ts'
import { filterOf, topicFor, topicOf } from './topics.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)
const other = `0x${'B'.repeat(40)}`

describe('a topic', () => {
  it('is a stream of the account, unless it begins with an owner', () => {
    const kitchen = { streamId: toStreamId(`${own}/sensors/kitchen`), partition: undefined }
    expect(topicOf('sensors/kitchen', own)).toEqual(kitchen)
    expect(topicOf('/sensors/kitchen', own)).toEqual(kitchen)
    expect(topicOf(`${other}/x@12`, own)).toEqual({ streamId: `${other.toLowerCase()}/x`, partition: 12 })
  })

  it('is refused where it is no stream', () => {
    for (const topic of [
      '',
      '/',
      'a//b',
      'a/',
      'über',
      'a b',
      '$SYS/x',
      '@3',
      'a@100',
      'x'.repeat(201),
      `${other}/`,
    ])
      expect(() => topicOf(topic, own), topic).toThrow(
        expect.objectContaining({ reason: Reason.topicInvalid }),
      )
  })
})

describe('a filter', () => {
  const targetOf = (filter: string) => filterOf(filter, own).target
  const matches = (filter: string, path: string) => {
    const { target, pattern } = filterOf(filter, own)
    const id = `${own}/${path}`
    const isUnder = target.endsWith('/#') ? `${id}/`.startsWith(target.slice(0, -1)) : id === target
    return isUnder && (pattern?.test(id) ?? true)
  }

  it('selects a stream, or the streams under a prefix', () => {
    expect(targetOf('sensors/kitchen')).toBe(`${own}/sensors/kitchen`)
    expect(targetOf('sensors/#')).toBe(`${own}/sensors/#`)
    expect(targetOf('#')).toBe(`${own}/#`)
    expect(targetOf(`${other}/sensors/+/temp`)).toBe(`${other.toLowerCase()}/sensors/#`)
    expect(filterOf('a@3', own)).toMatchObject({ target: `${own}/a`, partition: 3 })
    expect(filterOf('$share/g/a/#', own)).toMatchObject({ group: 'g', text: 'a/#', target: `${own}/a/#` })
  })

  it.each([
    ['a/#', 'a', true],
    ['a/#', 'a/b/c', true],
    ['a/#', 'ab', false],
    ['a/+', 'a/b', true],
    ['a/+', 'a', false],
    ['a/+', 'a/b/c', false],
    ['+/c', 'a/c', true],
    ['+/c', 'a/b/c', false],
    ['+/b/#', 'a/b', true],
    ['+/b/#', 'a/b/c', true],
    ['a.b/+', 'axb/c', false],
    ['+/+', 'a', false],
  ])('%s and %s: %s', (filter, path, isMatch) => {
    expect(matches(filter, path)).toBe(isMatch)
  })

  it('is refused where MQTT or Runnel has no such', () => {
    for (const filter of [
      '',
      'a+',
      'a/#/b',
      '#a',
      'a//+',
      'ü/#',
      '$share/g',
      '$share//a',
      '$share/+/a',
      '$share/g/',
    ])
      expect(() => filterOf(filter, own), filter).toThrow(
        expect.objectContaining({ reason: Reason.filterInvalid }),
      )
  })

  it('says how topics of its messages are written', () => {
    const shown = (filter: string, id: string) => topicFor(filterOf(filter, own).form, id, 3)
    expect(shown('a/#', `${own}/a/b`)).toBe('a/b')
    expect(shown('/a/#', `${own}/a/b`)).toBe('/a/b')
    expect(shown(`${other}/#`, `${other.toLowerCase()}/a`)).toBe(`${other}/a`)
    expect(shown('a@3', `${own}/a`)).toBe('a@3')
  })
})
