/** Signed documents of networks without a chain: what `runnel network` writes, and what everybody checks. */
export {
  checkNetworkDocument,
  signNetworkDocument,
  type DocumentTools,
  type CheckedDocument,
  type NetworkDocument,
  type StreamHistory,
} from './registry/document/network-document.ts'
export { parseStaticNetwork } from './registry/static-network.ts'
export {
  editDocument,
  newDocument,
  type DocumentChange,
  type NamedUrl,
} from './registry/document/edit-document.ts'
