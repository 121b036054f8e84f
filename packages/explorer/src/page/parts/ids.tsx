import { partitionText, shortId, splitPart } from '../format.ts'
import { nodeHref, partHref } from '../route.ts'

/** A node's id, linked to the page about it. */
export function NodeLink({ nodeId }: { readonly nodeId: string }) {
  return (
    <a class="id" href={nodeHref(nodeId)} title={nodeId}>
      {shortId(nodeId)}
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
