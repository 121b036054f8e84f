import { partitionText, shortId, splitPart } from '../format.ts'
import { nodeHref, partHref } from '../route.ts'

/** A node's id, linked to the page about it; in full, where there is room, when it is long. */
export function NodeLink({ nodeId, isLong = false }: { readonly nodeId: string; readonly isLong?: boolean }) {
  return (
    <a class="id" href={nodeHref(nodeId)} title={nodeId}>
      {isLong && <span class="long">{nodeId}</span>}
      <span class={isLong ? 'short' : undefined}>{shortId(nodeId)}</span>
    </a>
  )
}

/** A stream part's path, its owner and its partition apart, as a link to its overlay. */
export function PartLink({ partId, nodeId }: { readonly partId: string; readonly nodeId?: string }) {
  return (
    <a class="part" href={partHref(partId, 'graph', nodeId)} title={partId}>
      <PartName partId={partId} />
    </a>
  )
}

function PartName({ partId }: { readonly partId: string }) {
  const { owner, path, partition } = splitPart(partId)
  return (
    <>
      <span class="part-path">{path}</span>
      <span class="part-more">
        {shortId(owner)} · {partitionText(partition)}
      </span>
    </>
  )
}
