import thesis from './thesis.json' with { type: 'json' }

/** The figures of the thesis that ours stand beside. */
export const published = thesis

/** Its WebRTC measurements with so many nodes, in real networks; WebRTC's overlays were the random ones. */
export function publishedPropagation(nodes: number) {
  return thesis.propagation.find((row) => row.nodes === nodes)
}
