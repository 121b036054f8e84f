import { findNodes } from '../api/trackers.ts'
import { plural, shownText } from '../format.ts'
import { roleOf } from '../node-role.ts'
import { Copy } from '../parts/copy.tsx'
import { PartLink } from '../parts/ids.tsx'
import { Notice } from '../parts/notice.tsx'
import { Stat } from '../parts/stat.tsx'
import { Table } from '../parts/table.tsx'
import { usePolled } from '../use-polled.ts'
import { shownOf } from './list-words.ts'

const nodeEveryMs = 4_000

/** What the trackers know of one node. */
export function NodeView({
  bases,
  nodeId,
}: {
  readonly bases: readonly string[] | undefined
  readonly nodeId: string
}) {
  const key = bases && `${bases.join()} ${nodeId}`
  const { value, failure, readAtMs } = usePolled(key, nodeEveryMs, (signal) =>
    findNodes(bases ?? [], nodeId, signal),
  )
  const node = value?.items.find((item) => item.nodeId === nodeId)
  const total = node?.streamPartCount ?? 0
  const listed = { total, isWhole: true }
  const shown = shownOf(node?.streamParts.length ?? 0, listed, { isSearch: false, isSorted: false })
  return (
    <section class="page">
      <h1>Node</h1>
      <p class="full-id">
        <span>{nodeId}</span> <Copy text={nodeId} what="the node's id" />
      </p>
      <Notice
        failure={failure ?? value?.failures[0]}
        readAtMs={failure === undefined ? undefined : readAtMs}
      />
      {value !== undefined && node === undefined && (
        <p class="empty">No tracker knows this node at the moment: it has left, or was never here.</p>
      )}
      {node !== undefined && (
        <>
          <p>
            In {plural(total, 'stream part')};{' '}
            {node.connected ? 'connected to its trackers' : 'its tracker has just lost it'}.
          </p>
          <dl class="facts-list">
            <Stat label="Name">{shownText(node.name ?? 'none')}</Stat>
            <Stat label="Role">{roleOf(node, false)}</Stat>
            <Stat label="Version">{shownText(node.version ?? 'not given')}</Stat>
          </dl>
          <p class="empty measured">These are statements of the node itself, not verified.</p>
          <Table
            caption="Stream parts of this node"
            columns={[
              { title: 'Stream', cell: (partId: string) => <PartLink partId={partId} nodeId={nodeId} /> },
              {
                title: 'Partition',
                isNumber: true,
                isMinor: true,
                cell: (partId) => partId.slice(partId.lastIndexOf('#') + 1),
              },
            ]}
            rows={node.streamParts}
            rowKey={(partId) => partId}
            empty="It is not in any stream part."
          />
          {shown !== undefined && <p class="empty">{shown}</p>}
        </>
      )}
    </section>
  )
}
