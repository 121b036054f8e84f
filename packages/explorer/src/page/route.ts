/** Where in the explorer somebody is: what stands after the `#` of the address. */
export type Route =
  | { readonly view: 'streams'; readonly search: string }
  | { readonly view: 'nodes'; readonly search: string }
  | { readonly view: 'trackers' }
  | { readonly view: 'node'; readonly nodeId: string }
  | {
      readonly view: 'part'
      readonly partId: string
      readonly show: PartShow
      readonly nodeId: string | undefined
    }
  | { readonly view: 'unknown' }

const partShows = ['graph', 'map', 'table', 'live'] as const
export type PartShow = (typeof partShows)[number]

/** Characters of a search: a whole stream part id may be one. */
export const maxSearchChars = 250

const nodeIdPattern = /^0x[0-9a-f]{40}$/
const partIdPattern = /^0x[0-9a-f]{40}\/[A-Za-z0-9._/-]{1,200}#(?:[0-9]{1,2}|100)$/

function isNodeId(text: string): boolean {
  return nodeIdPattern.test(text)
}

function isPartId(text: string): boolean {
  return partIdPattern.test(text)
}

/** Understands an address; whatever it does not understand is `unknown`. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2)
  const parameters = new URLSearchParams(query)
  const [view = '', argument] = path.replace(/^\//, '').split('/', 2).map(decoded)
  const search = (parameters.get('q') ?? '').slice(0, maxSearchChars)
  if (argument === undefined) {
    if (view === '' || view === 'streams') return { view: 'streams', search }
    if (view === 'nodes') return { view, search }
    if (view === 'trackers') return { view }
    return { view: 'unknown' }
  }
  if (view === 'node' && isNodeId(argument)) return { view, nodeId: argument }
  if (view !== 'part' || !isPartId(argument)) return { view: 'unknown' }
  const wanted = parameters.get('show')
  const nodeId = parameters.get('node') ?? ''
  return {
    view,
    partId: argument,
    show: partShows.find((show) => show === wanted) ?? 'graph',
    nodeId: isNodeId(nodeId) ? nodeId : undefined,
  }
}

export function partHref(partId: string, show: PartShow = 'graph', nodeId?: string): string {
  const parameters = new URLSearchParams({
    ...(show === 'graph' ? {} : { show }),
    ...(nodeId === undefined ? {} : { node: nodeId }),
  })
  const query = parameters.size > 0 ? `?${parameters}` : ''
  return `#/part/${encodeURIComponent(partId)}${query}`
}

export function nodeHref(nodeId: string): string {
  return `#/node/${nodeId}`
}

function searchHref(view: 'streams' | 'nodes', search: string): string {
  return search === '' ? `#/${view}` : `#/${view}?${new URLSearchParams({ q: search })}`
}

/** Where a search leads: ids lead to nodes, or straight to the thing itself, everything else to streams. */
export function searchTarget(text: string): string {
  const wanted = text.trim().slice(0, maxSearchChars)
  const lower = wanted.toLowerCase()
  if (isNodeId(lower)) return nodeHref(lower)
  if (isPartId(wanted)) return partHref(wanted)
  return searchHref(/^0x[0-9a-f]*$/.test(lower) ? 'nodes' : 'streams', wanted)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}
