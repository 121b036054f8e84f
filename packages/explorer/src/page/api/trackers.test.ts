import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { sentenceFor } from './failure.ts'
import { findNodes, findParts, httpBase, leaderOf, readOverlay, readTrackers } from './trackers.ts'

const id = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const partId = (name: string) => `${id(0xaa)}/${name}#0`
const { signal } = new AbortController()

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** Answers by path; what is not there is not found. */
async function trackerWith(answers: Readonly<Record<string, unknown>>): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
    const answer = answers[pathname + search] ?? answers[pathname]
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? { code: 'NOT_FOUND' }))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const part = (name: string, nodeCount: number) => {
  return { streamPartId: partId(name), overlay: 'random', nodeCount, edgeCount: 0 }
}
const listOf = (...streamParts: object[]) => ({
  '/v1/stream-parts': { total: streamParts.length, streamParts },
})
/** Nobody listens on the discard port. */
const gone = 'http://127.0.0.1:9'

describe('what several trackers say', () => {
  it('is put together, each stream part from who has more of it', async () => {
    const one = await trackerWith(listOf(part('a', 3), part('b', 1)))
    const other = await trackerWith(listOf(part('b', 5)))
    const { items, total, failures } = await findParts([one, other], '', signal)
    expect(items.map(({ streamPartId, nodeCount, base }) => [streamPartId, nodeCount, base])).toEqual([
      [partId('b'), 5, other],
      [partId('a'), 3, one],
    ])
    expect([total, failures]).toEqual([2, []])
    expect((await leaderOf([one, other], partId('b'), signal)).base).toBe(other)
  })

  it('is read page by page, be there nothing on one of them', async () => {
    const list = '/v1/stream-parts?limit=1000&contains=a'
    const base = await trackerWith({
      [list]: { total: 0, next: 20_000, streamParts: [] },
      [`${list}&offset=20000`]: { total: 1, next: null, streamParts: [part('a', 3)] },
    })
    expect((await findParts([base], 'a', signal)).items.map(({ nodeCount }) => nodeCount)).toEqual([3])
  })

  it('is known to be a part where a tracker has more than is read of it', async () => {
    const names = Array.from({ length: 1_000 }, (_, n) => part(`a${n}`, 1))
    const list = '/v1/stream-parts?limit=1000'
    const large = await trackerWith({ [list]: { total: 1_001, next: 1_000, streamParts: names } })
    const small = await trackerWith(listOf(part('b', 3)))
    expect(await findParts([large, small], '', signal)).toMatchObject({ total: 1_002, isWhole: false })
    expect(await findParts([small], '', signal)).toMatchObject({ total: 1, isWhole: true })
    const short = { total: 1_001, next: 999, streamParts: names.slice(1) }
    const last = { total: 1_001, next: null, streamParts: [part('c', 1), part('d', 9)] }
    const cut = await trackerWith({ [list]: short, [`${list}&offset=999`]: last })
    expect(await findParts([cut], '', signal)).toMatchObject({ items: { length: 1_000 }, isWhole: false })
  })

  it('is incomplete where one does not answer, and nothing where none does', async () => {
    const one = await trackerWith(listOf(part('a', 3)))
    const { items, failures } = await findParts([one, gone], '', signal)
    expect([items.length, failures.map(({ code }) => code)]).toEqual([1, ['UNREACHABLE']])
    await expect(findParts([gone], '', signal)).rejects.toMatchObject({ code: 'UNREACHABLE' })
    await expect(leaderOf([one, gone], partId('b'), signal)).rejects.toMatchObject({ code: 'UNREACHABLE' })
    await expect(leaderOf([one], partId('b'), signal)).rejects.toMatchObject({ code: 'UNKNOWN_STREAM_PART' })
  })

  it('is put together for nodes, too', async () => {
    // One of them is older and tells nothing of what nodes are.
    const about = (parts: number) => parts > 1 && { role: 'page', version: null, name: null }
    const nodes = (...streamParts: string[]) => ({
      '/v1/nodes': {
        total: 1,
        nodes: [
          { nodeId: id(1), connected: streamParts.length > 1, streamParts, ...about(streamParts.length) },
        ],
      },
    })
    const bases = [await trackerWith(nodes(partId('a'))), await trackerWith(nodes(partId('a'), partId('b')))]
    expect((await findNodes(bases, '0x0', signal)).items).toEqual([
      {
        ...{ nodeId: id(1), connected: true, streamPartCount: 2, streamParts: [partId('a'), partId('b')] },
        ...{ role: 'page', version: null, name: null },
      },
    ])
  })

  it('counts the stream parts of a node that no tracker lists, too', async () => {
    const nodes = (streamPartCount: number, ...streamParts: string[]) => ({
      '/v1/nodes': { total: 1, nodes: [{ nodeId: id(1), connected: true, streamPartCount, streamParts }] },
    })
    const bases = [
      await trackerWith(nodes(40, partId('a'), partId('b'))),
      await trackerWith(nodes(3, partId('b'), partId('c'))),
    ]
    const { items } = await findNodes(bases, '', signal)
    expect(items).toMatchObject([
      { streamPartCount: 3 + 38 + 1, streamParts: [partId('a'), partId('b'), partId('c')] },
    ])
  })
})

describe('the trackers of a network', () => {
  const health = (n: number) => ({ nodeId: id(n), nodes: n, streamParts: 1 })
  const view = (...trackers: object[]) => {
    return { nodeId: id(1), state: 'joined', leads: 1, replicas: 0, trackers }
  }
  const listed = (n: number, url: string, self = false) => {
    return { nodeId: id(n), url, self, linked: true, error: null, load: null }
  }

  it('are asked one by one; who does not answer is shown with the reason', async () => {
    const second = await trackerWith({ '/health': health(2) })
    const home = await trackerWith({
      '/health': health(1),
      '/v1/cluster': view(
        listed(1, 'ws://elsewhere', true),
        listed(2, second.replace('http', 'ws')),
        listed(3, gone.replace('http', 'ws')),
        listed(4, 'javascript:alert(1)'),
      ),
    })
    const trackers = await readTrackers(home, signal)
    expect(
      trackers.map(({ nodeId, base, health, failure }) => [nodeId, base, health?.nodes, failure?.code]),
    ).toEqual([
      [id(1), home, 1, undefined],
      [id(2), second, 2, undefined],
      [id(3), gone, undefined, 'UNREACHABLE'],
      [id(4), 'javascript:alert(1)', undefined, 'UNREACHABLE'],
    ])
  })

  it('is one where there is no cluster', async () => {
    const home = await trackerWith({ '/health': health(1) })
    expect(await readTrackers(home, signal)).toMatchObject([
      { nodeId: id(1), isHome: true, cluster: undefined },
    ])
  })

  it.each([
    ['ws://a:1/x', 'http://a:1'],
    ['wss://b.example', 'https://b.example'],
    ['file:///etc/passwd', undefined],
    ['nonsense', undefined],
  ])('%s has its HTTP API at %s', (url, base) => expect(httpBase(url)).toBe(base))
})

describe('an overlay', () => {
  it('is put together from its pages', async () => {
    const topology = `/v1/stream-parts/${encodeURIComponent(partId('a'))}/topology`
    const edge = (a: number, b: number) => ({
      a: id(a),
      b: id(b),
      rttMs: 1,
      near: false,
      transport: null,
      relayed: false,
    })
    const page = (nodes: string[], edges: object[]) => {
      return { streamPartId: partId('a'), overlay: 'random', nodeCount: 1_002, edgeCount: 3, nodes, edges }
    }
    const first = Array.from({ length: 1_000 }, (_, n) => id(n))
    const base = await trackerWith({
      [`${topology}?offset=0&limit=1000`]: page(first, [edge(0, 1), edge(1, 1_001)]),
      // Meanwhile somebody has left, and the last of the first page is the first of this one.
      [`${topology}?offset=1000&limit=1000`]: page([id(999), id(1_001)], [edge(999, 5_000)]),
    })
    const overlay = await readOverlay(base, partId('a'), signal)
    expect(overlay.nodes).toEqual([...first, id(1_001)])
    expect(overlay.edges.map(({ a, b }) => [a, b])).toEqual([
      [id(0), id(1)],
      [id(1), id(1_001)],
    ])
  })
})

describe('the pages of an overlay', () => {
  it('are as large as the tracker likes', async () => {
    const topology = `/v1/stream-parts/${encodeURIComponent(partId('a'))}/topology`
    const page = (next: number | null, ...nodes: string[]) => {
      return {
        streamPartId: partId('a'),
        overlay: 'random',
        nodeCount: 3,
        edgeCount: 0,
        next,
        nodes,
        edges: [],
      }
    }
    const base = await trackerWith({
      [`${topology}?offset=0&limit=1000`]: page(2, id(1), id(2)),
      [`${topology}?offset=2&limit=1000`]: page(null, id(3)),
    })
    expect((await readOverlay(base, partId('a'), signal)).nodes).toEqual([id(1), id(2), id(3)])
  })
})

describe('sentences', () => {
  it('are there for whatever goes wrong', async () => {
    const failure: unknown = await readTrackers(gone, signal).catch((error: unknown) => error)
    expect(sentenceFor(failure)).toMatch(/^The tracker at 127\.0\.0\.1:9 does not answer/)
    expect(sentenceFor(new TypeError('x is undefined'))).toMatch(/Reloading/)
  })
})
