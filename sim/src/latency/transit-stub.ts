import type { Random } from '@runnel/protocol'
import { shortestDelaysMs } from '../graphs/shortest-delays.ts'
import { WeightedGraph } from '../graphs/weighted-graph.ts'

/** The routers of a network of 528, and the one-way delays of its links. */
const shape = {
  transitDomains: 4,
  routersPerTransitDomain: 4,
  stubDomainsPerTransitRouter: 4,
  routersPerStubDomain: 8,
  /** Links in addition to those that connect a domain, as a share of all its pairs. */
  extraLinks: 0.3,
}
/** As in Ratnasamy et al., "A Scalable Content-Addressable Network" (SIGCOMM 2001), section 4: transit, into a stub, within a stub. */
const delaysMs = { transit: 100, access: 10, stub: 1 }
/** From a node to its router. */
const hostMs = 0.1

/**
 * An internet of transit and stub domains (Zegura, Calvert, Bhattacharjee, "How to Model an Internetwork", INFOCOM 1996):
 * stubs hang on transit routers, packets take the shortest way. Nodes are on stub routers, spread evenly. Gives the one-way
 * delays between nodes.
 */
export function createTransitStub(nodes: number, random: Random): (from: number, to: number) => number {
  const graph = new WeightedGraph(routerCount())
  const stubRouters = connectRouters(graph, random)
  const hosts = Array.from({ length: nodes }, (_, node) => stubRouters[node % stubRouters.length] ?? 0)
  const fromRouter = new Map([...new Set(hosts)].map((router) => [router, shortestDelaysMs(graph, router)]))
  return (from, to) => {
    const between = fromRouter.get(hosts[from] ?? 0)?.[hosts[to] ?? 0] ?? Infinity
    return between + 2 * hostMs
  }
}

function routerCount(): number {
  const transit = shape.transitDomains * shape.routersPerTransitDomain
  return transit + transit * shape.stubDomainsPerTransitRouter * shape.routersPerStubDomain
}

/** Connects everything and gives the stub routers, in an order that spreads nodes over the stubs. */
function connectRouters(graph: WeightedGraph, random: Random): number[] {
  let next = 0
  const take = (count: number): number[] => Array.from({ length: count }, () => next++)
  const domains = Array.from({ length: shape.transitDomains }, () => take(shape.routersPerTransitDomain))
  for (const domain of domains) connectDomain(graph, domain, delaysMs.transit, random)
  const one = (routers: readonly number[]): number => routers[Math.floor(random.next() * routers.length)] ?? 0
  domains.forEach((domain, i) => {
    for (const other of domains.slice(i + 1)) graph.connect(one(domain), one(other), delaysMs.transit)
  })
  const stubs = domains.flat().flatMap((transit) =>
    Array.from({ length: shape.stubDomainsPerTransitRouter }, () => {
      const stub = take(shape.routersPerStubDomain)
      connectDomain(graph, stub, delaysMs.stub, random)
      graph.connect(transit, one(stub), delaysMs.access)
      return stub
    }),
  )
  return Array.from({ length: shape.routersPerStubDomain }, (_, i) =>
    stubs.map((stub) => stub[i] ?? 0),
  ).flat()
}

/** A random tree and some links more. */
function connectDomain(
  graph: WeightedGraph,
  routers: readonly number[],
  delayMs: number,
  random: Random,
): void {
  routers.forEach((router, i) => {
    if (i === 0) return
    const parent = Math.floor(random.next() * i)
    routers.slice(0, i).forEach((other, j) => {
      if (j === parent || random.next() < shape.extraLinks) graph.connect(router, other, delayMs)
    })
  })
}
