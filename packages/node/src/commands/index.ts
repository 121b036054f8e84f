import type { Command } from '../cli/command.ts'

/** Loads the commands that begin with a word, in the order of the help. Each with what it needs only: a start should not wait for code it does not run. */
const loaders: Readonly<Record<string, () => Promise<readonly Command[]>>> = {
  up: async () => [(await import('./up.ts')).up],
  publish: async () => [(await import('./publish.ts')).publish],
  subscribe: async () => [(await import('./subscribe.ts')).subscribe],
  last: async () => [(await import('./last.ts')).last],
  request: async () => [(await import('./request.ts')).request],
  respond: async () => [(await import('./respond.ts')).respond],
  presence: async () => [(await import('./presence.ts')).presence],
  reader: async () => [
    (await import('./reader-show.ts')).readerShow,
    (await import('./reader-reset.ts')).readerReset,
  ],
  resend: async () => [
    (await import('./resend-last.ts')).resendLast,
    (await import('./resend-from.ts')).resendFrom,
    (await import('./resend-range.ts')).resendRange,
    (await import('./resend-table.ts')).resendTable,
  ],
  stream: async () => [
    (await import('./stream-create.ts')).streamCreate,
    (await import('./stream-show.ts')).streamShow,
    (await import('./stream-list.ts')).streamList,
    (await import('./stream-list.ts')).streamSearch,
    (await import('./stream-update.ts')).streamUpdate,
    (await import('./stream-delete.ts')).streamDelete,
    (await import('./stream-grant.ts')).streamGrant,
    (await import('./stream-revoke.ts')).streamRevoke,
    (await import('./stream-keys.ts')).streamKeys,
    (await import('./stream-rotate.ts')).streamRotate,
    (await import('./stream-record.ts')).streamRecord,
  ],
  storage: async () => [
    (await import('./storage-add.ts')).storageAdd,
    (await import('./storage-remove.ts')).storageRemove,
    (await import('./storage-list.ts')).storageList,
    (await import('./storage-token.ts')).storageToken,
    (await import('./storage-usage.ts')).storageUsage,
    (await import('./storage-backup.ts')).storageBackup,
    (await import('./storage-export.ts')).storageExport,
    (await import('./storage-import.ts')).storageImport,
  ],
  node: async () => [(await import('./node.ts')).node, (await import('./node-init.ts')).nodeInit],
  gateway: async () => [
    (await import('./gateway-key-new.ts')).gatewayKeyNew,
    (await import('./gateway-key-list.ts')).gatewayKeyList,
    (await import('./gateway-key-remove.ts')).gatewayKeyRemove,
  ],
  bench: async () => {
    const messages = await import('./bench-messages.ts')
    const others = await import('./bench-others.ts')
    return [
      ...[messages.benchPubsub, messages.benchPub, messages.benchSub, others.benchJoin, others.benchResend],
      ...[others.benchRooms, others.benchFind, (await import('./bench-worker.ts')).benchWorker],
    ]
  },
  doctor: async () => [(await import('./doctor.ts')).doctor],
  tracker: async () => [
    (await import('./tracker.ts')).tracker,
    (await import('./tracker-status.ts')).trackerStatus,
  ],
  key: async () => [
    (await import('./key-new.ts')).keyNew,
    (await import('./key-show.ts')).keyShow,
    (await import('./key-import.ts')).keyImport,
    (await import('./key-delegate.ts')).keyDelegate,
    (await import('./key-accept.ts')).keyAccept,
    (await import('./key-delegations.ts')).keyDelegations,
    (await import('./key-revoke.ts')).keyRevoke,
    (await import('./stream-rotate.ts')).keyRotate,
  ],
  'reading-key': async () => [
    (await import('./reading-key-new.ts')).readingKeyNew,
    (await import('./reading-key-export.ts')).readingKeyExport,
    (await import('./reading-key-show.ts')).readingKeyShow,
    (await import('./reading-key-card.ts')).readingKeyCard,
    (await import('./reading-key-rotate.ts')).readingKeyRotate,
  ],
  network: async () => [
    (await import('./network-init.ts')).networkInit,
    (await import('./network-update.ts')).networkUpdate,
    (await import('./network-show.ts')).networkShow,
  ],
  chain: async () => [(await import('./chain-fund.ts')).chainFund],
  registry: async () => [
    (await import('./registry-deploy.ts')).registryDeploy,
    (await import('./registry-show.ts')).registryShow,
    (await import('./registry-add-tracker.ts')).registryAddTracker,
    (await import('./registry-remove-tracker.ts')).registryRemoveTracker,
    (await import('./registry-add-storage.ts')).registryAddStorage,
    (await import('./registry-remove-storage.ts')).registryRemoveStorage,
    (await import('./registry-allow-node.ts')).registryAllowNode,
    (await import('./registry-remove-node.ts')).registryRemoveNode,
    (await import('./registry-list-nodes.ts')).registryListNodes,
  ],
}

/** The commands a command line can mean: those that match its first word, or all if there is none or it is unknown. */
export async function loadCommands(argv: readonly string[]): Promise<readonly Command[]> {
  const word = argv[0] ?? ''
  const chosen = Object.hasOwn(loaders, word) ? loaders[word] : undefined
  if (chosen) return chosen()
  const groups = await Promise.all(Object.values(loaders).map((load) => load()))
  return groups.flat()
}
