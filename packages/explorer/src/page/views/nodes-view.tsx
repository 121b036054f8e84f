import { useMemo } from 'preact/hooks'
import { findNodes, findParts } from '../api/trackers.ts'
import type { NodeSummary } from '../api/answers.ts'
import { formatCount, shownText } from '../format.ts'
import { roleOf } from '../node-role.ts'
import { Copy } from '../parts/copy.tsx'
import { NodeLink } from '../parts/ids.tsx'
import { Notice } from '../parts/notice.tsx'
import { Table, type Column } from '../parts/table.tsx'
import { usePolled } from '../use-polled.ts'
import { shownOf } from './list-words.ts'

const nodesEveryMs = 4_000
/** Who stores what changes rarely. */
const rolesEveryMs = 30_000

const columnsOf = (storage: ReadonlySet<string>): Column<NodeSummary>[] => [
  {
    title: 'Node',
    cell: ({ nodeId }) => (
      <span class="with-copy">
        <NodeLink nodeId={nodeId} isLong />
        <Copy text={nodeId} what="the node's id" />
      </span>
    ),
  },
  { title: 'Name', cell: ({ name }) => shownText(name ?? '–') },
  { title: 'Role', cell: (node) => roleOf(node, storage.has(node.nodeId)) },
  { title: 'Version', isMinor: true, cell: ({ version }) => shownText(version ?? '–') },
  {
    title: 'Stream parts',
    isNumber: true,
    cell: ({ streamPartCount }) => formatCount(streamPartCount),
  },
  { title: 'Tracker link', cell: ({ connected }) => (connected ? 'open' : 'just lost') },
]

/** The nodes of the network, or the results of a search. */
export function NodesView({
  bases,
  search,
}: {
  readonly bases: readonly string[] | undefined
  readonly search: string
}) {
  const prefix = search.toLowerCase()
  const isPrefix = /^(0x?[0-9a-f]{0,40})?$/.test(prefix)
  const key = bases && isPrefix ? `${bases.join()} ${prefix}` : undefined
  const { value, failure, readAtMs } = usePolled(key, nodesEveryMs, (signal) =>
    findNodes(bases ?? [], prefix, signal),
  )
  const parts = usePolled(bases && bases.join(), rolesEveryMs, (signal) => findParts(bases ?? [], '', signal))
  const columns = useMemo(
    () => columnsOf(new Set(parts.value?.items.flatMap(({ storageNodes }) => storageNodes))),
    [parts.value],
  )
  const shown = value && shownOf(value.items.length, value, { isSearch: prefix !== '', isSorted: false })
  return (
    <section class="page">
      <h1>{search === '' ? 'Nodes' : <>Nodes whose ids start with “{search}”</>}</h1>
      <Notice
        failure={failure ?? value?.failures[0]}
        readAtMs={failure === undefined ? undefined : readAtMs}
      />
      {!isPrefix && (
        <p class="empty">A node id is 0x and 40 hexadecimal digits. No id can start like this.</p>
      )}
      {value !== undefined && (
        <>
          <Table
            caption="Nodes"
            columns={columns}
            rows={value.items}
            rowKey={({ nodeId }) => nodeId}
            empty="No such node is online at the moment."
          />
          {value.items.length > 0 && (
            <p class="empty">
              Names, versions and most roles are statements of the nodes themselves, not verified.
            </p>
          )}
          {shown !== undefined && (
            <p class="empty">{shown} Type the start of an id into the search to find others.</p>
          )}
        </>
      )}
    </section>
  )
}
