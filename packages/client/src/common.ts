/** What is the same on every platform. */
export { isRunnelError, RunnelError } from '@runnel/protocol'
export type { ClientConfig, NetworkSource } from './given-config.ts'
export type { UserConfig } from './node/user-file.ts'
export type {
  DelegationConfig,
  GuestsConfig,
  ViaConfig,
  ViaHost,
  DelegationRequestConfig,
  PublishConfig,
  QueueLimitsConfig,
  ReadingKeyConfig,
  TransportsConfig,
} from './config.ts'
export type { HostNews, HostView } from '@runnel/network'
export type { MessagesWithheld } from './light/host-messages.ts'
export type { ContentSchema } from './content/content-schema.ts'
export type { Decoding } from './content/decode.ts'
export type { UndecodableMessage } from './content/undecodable-message.ts'
export type { ContentStep, MessageContent, OpenContext, SealContext } from './content/content-step.ts'
export { typeInside } from './content/deflate.ts'
export { cardFingerprint } from './encryption/card-fingerprint.ts'
export type { OpenerKeys, ReaderState, RotatedKeys, StreamKeys } from './encryption/stream-keys.ts'
export { exportReadingKey } from './encryption/export-reading-key.ts'
export type { RegistryService } from './registry/registry-service.ts'
export type { ClientModules, CreateNode, NodeModules } from './client.ts'
export type { ClientClosed } from './closing.ts'
export type { RunnelClient } from './runnel-client.ts'
export type { StreamFilter } from './streams/find-streams.ts'
export type {
  Grantee,
  GrantOptions,
  NewStream,
  RevokeOptions,
  StreamUpdate,
} from './streams/stream-changes.ts'
export type { PrepareOptions, PublishOptions } from './publish/publisher.ts'
export type { UrgentOptions } from './publish/urgent-options.ts'
export type { UrgentDrops, UrgentRate, UrgentRateEvents, UrgentRateOptions } from './publish/urgent-rate.ts'
export type { PublishedMany, PublishManyOptions } from './publish/publish-many.ts'
export type { PreparedMessage, PublishedMessage } from './publish/part-outbox.ts'
export { partitionOfKey } from './publish/partition.ts'
export type { SubscribeOptions } from './subscribe/subscriber.ts'
export type { OnMessage } from './subscribe/inbox.ts'
export type { Subscription, SubscriptionCounters } from './subscribe/subscription.ts'
export type { MessageGap } from './subscribe/gap.ts'
export type { HistoryFilter, HistoryPlace, HistorySelection } from './resend/selection.ts'
export type { StoredPart } from './resend/read-storage-node.ts'
export type { ResendOptions } from './resend/resend.ts'
export type { LastOptions, TableOptions } from './latest/last.ts'
export type { Playback, PlaybackOptions } from './resend/playback.ts'
export type { MessagePlace, WaitForStorageOptions } from './resend/wait-for-storage.ts'
export type { MessageHeaders } from './content/headers.ts'
export { splitHeaders } from './content/headers.ts'
export type { Message } from './subscribe/message.ts'
export type { FailedReply, Reply } from './request/pending-request.ts'
export type { RequestManyOptions, RequestOptions } from './request/requester.ts'
export type { RequestHandler, RespondOptions, Responding } from './request/responder.ts'
export type { CountOptions, PartitionCount, StreamCount } from './presence/count.ts'
export type { RelayedBatch } from './relay/batch-relay.ts'
export type { RecordOptions, Recording } from './record/recorder.ts'
export type { Presence, PresenceOptions } from './presence/presence.ts'
export type { Member, PresenceEvent } from './presence/member-table.ts'
export type { DurableReader } from './reader/durable-reader.ts'
export type { ReaderCounters, ReaderLag, ReaderMessage } from './reader/reader-message.ts'
export type { ReaderNews } from './reader/reader-news.ts'
export type { ReaderOptions, ReaderStart } from './reader/reader-options.ts'
export type { Spread } from './reader/core/share.ts'
export type { ReaderBacklog, StoredReader } from './reader/readers.ts'
export type { ClientStatus } from './status.ts'
export type { EncryptionNews } from './encryption/encryption-news.ts'
export type { PhaseName, PhaseTimes } from './phases.ts'
export type { Eip1193Provider } from './wallet.ts'
export type { Broadcast, Signed, Signer, TransactionFees, UnsentTransaction } from './identity/signer.ts'
export { keySigner } from './identity/key-signer.ts'
export { walletSigner } from './identity/wallet-signer.ts'
export { remoteSigner, type RemoteSignerOptions } from './identity/remote-signer.ts'
export { requestDelegation, type DelegationWish, type RequestModules } from './identity/request-delegation.ts'
export { keysOnly, type AccountsOnChain } from './identity/request-signature.ts'
export { forgetSession, openSession, type Session } from './identity/session.ts'
export { memoryStore, type SessionStore } from './identity/session-store.ts'
export type { Logger } from './logger.ts'
export type {
  PermissionName,
  Permissions,
  RegistryChange,
  StorageNodeInfo,
  StreamInfo,
  UserPermissions,
} from './registry/ports.ts'
export type { StaticNetwork } from './registry/static-network.ts'
export { createdToleranceMs, oldestOfStreamMs, predates } from './registry/predates.ts'
export { isTrackerUrl, shownUrl } from './registry/tracker-url.ts'
export { clientError, clientErrors, type ClientErrorCode } from './errors.ts'
