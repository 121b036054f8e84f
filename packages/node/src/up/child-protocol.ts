import type { NodeId } from '@runnel/protocol'
import type { NodeSnapshot } from '../snapshot.ts'

/** What `runnel up` says to a process it started, over Node's IPC channel. */
export type ParentMessage =
  | { readonly type: 'snapshot'; readonly request: number }
  | { readonly type: 'publish' }
  | { readonly type: 'pause'; readonly request: number }

/** What such a process says back. */
export type ChildMessage =
  | {
      readonly type: 'ready'
      readonly nodeId: NodeId
      readonly url: string | undefined
      readonly httpUrl: string | undefined
    }
  | { readonly type: 'snapshot'; readonly request: number; readonly snapshot: NodeSnapshot }
  | { readonly type: 'paused'; readonly request: number; readonly snapshot: NodeSnapshot }

/** True when another process started this one and holds an IPC channel to it. */
export function isSupervised(): boolean {
  return process.connected !== undefined
}

/** Says something to the supervisor, if there is one. When it is gone, `listenForStop` hears of that. */
export function tellSupervisor(message: ChildMessage): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
