import type { LinkKind, UserKind } from './plan.ts'

/** What a process has open before it has any user. */
const ownFiles = 100
/** Sockets of a user: its server, a tracker, and its links with some to spare while edges are exchanged. A WebRTC link has several. */
const filesOf: Readonly<Record<LinkKind, number>> = { websocket: 12, mixed: 24, webrtc: 32 }

/** Files that a generator has to be allowed to open. Users that are no nodes have a socket or two each. */
export function filesNeeded(users: number, kind: UserKind, links: LinkKind): number {
  return ownFiles + users * (kind === 'light' ? filesOf[links] : 6)
}
