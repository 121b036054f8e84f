/** Following streams by their ids, for what takes part in them without subscribing: brokers. */
export {
  StreamFollower,
  type FollowedStream,
  type FollowChange,
  type FollowingClient,
} from './stream-follower.ts'
export {
  isStreamPattern,
  matches,
  overlap,
  parseStreamPattern,
  type StreamPattern,
} from './stream-pattern.ts'
export { noPermission } from '../errors.ts'
