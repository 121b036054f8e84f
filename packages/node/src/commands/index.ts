import type { Command } from '../cli/command.ts'
import { keyNew } from './key-new.ts'
import { keyShow } from './key-show.ts'
import { nodeInit } from './node-init.ts'
import { node } from './node.ts'
import { publish } from './publish.ts'
import { registryAddTracker } from './registry-add-tracker.ts'
import { registryDeploy } from './registry-deploy.ts'
import { registryRemoveTracker } from './registry-remove-tracker.ts'
import { registryShow } from './registry-show.ts'
import { streamCreate } from './stream-create.ts'
import { streamDelete } from './stream-delete.ts'
import { streamGrant } from './stream-grant.ts'
import { streamList } from './stream-list.ts'
import { streamRevoke } from './stream-revoke.ts'
import { streamShow } from './stream-show.ts'
import { subscribe } from './subscribe.ts'
import { tracker } from './tracker.ts'
import { up } from './up.ts'

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  up,
  publish,
  subscribe,
  ...[streamCreate, streamShow, streamList, streamDelete, streamGrant, streamRevoke],
  node,
  nodeInit,
  tracker,
  ...[keyNew, keyShow],
  ...[registryDeploy, registryShow, registryAddTracker, registryRemoveTracker],
]
