import { describe, expect, it } from 'vitest'
import { nodeHref, parseRoute, partHref, searchTarget } from './route.ts'

const nodeId = `0x${'a'.repeat(40)}`
const partId = `${nodeId}/rooms/1#0`

describe('routes', () => {
  it.each([
    ['', { view: 'streams', search: '' }],
    ['#/streams?q=cpu', { view: 'streams', search: 'cpu' }],
    ['#/trackers', { view: 'trackers' }],
    [nodeHref(nodeId), { view: 'node', nodeId }],
    [partHref(partId), { view: 'part', partId, show: 'graph', nodeId: undefined }],
    [partHref(partId, 'table', nodeId), { view: 'part', partId, show: 'table', nodeId }],
    [`${partHref(partId)}?show=nonsense&node=x`, { view: 'part', partId, show: 'graph', nodeId: undefined }],
  ])('understands %s', (hash, route) => expect(parseRoute(hash)).toEqual(route))

  it.each([
    '#/node/Bob',
    '#/part/%zz',
    `#/part/${encodeURIComponent('<img>/x#0')}`,
    '#/elsewhere',
    '#/node/',
  ])('does not understand %s', (hash) => expect(parseRoute(hash)).toEqual({ view: 'unknown' }))

  it('leads a search to what is looked for', () => {
    expect(searchTarget(` ${nodeId.toUpperCase().replace('X', 'x')} `)).toBe(nodeHref(nodeId))
    expect(searchTarget(partId)).toBe(partHref(partId))
    const longest = `${nodeId}/${'x'.repeat(200)}#100`
    expect(searchTarget(longest)).toBe(partHref(longest))
    expect(searchTarget('0x12')).toBe('#/nodes?q=0x12')
    expect(searchTarget('lobby')).toBe('#/streams?q=lobby')
    expect(searchTarget('')).toBe('#/streams')
  })
})
