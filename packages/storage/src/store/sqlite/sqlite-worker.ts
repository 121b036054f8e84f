import { parentPort, workerData } from 'node:worker_threads'
import { readerOperations, writerOperations } from './operations.ts'
import { transferOf, type Packed } from './packing.ts'
import { toFailure } from './sqlite-errors.ts'
import type { ThreadAnswer, ThreadData, ThreadRequest } from './store-thread.ts'

/** The entry of a thread of the store: does one request after the other, in the order they come. */
const { role, path } = workerData as ThreadData
const operations = (role === 'writer' ? writerOperations(path) : readerOperations(path)) as Readonly<
  Record<string, (argument: unknown) => unknown>
>

async function answer({ id, operation, argument }: ThreadRequest): Promise<ThreadAnswer> {
  try {
    return { id, result: await operations[operation]?.(argument) }
  } catch (error) {
    return { id, failure: toFailure(error, path) }
  }
}

/** Pages of messages are handed over, not copied. */
function transferable(result: unknown): ArrayBuffer[] {
  const page = result as { readonly batches?: Packed } | undefined
  return page?.batches?.bytes instanceof Uint8Array ? transferOf(page.batches) : []
}

async function handle(request: ThreadRequest): Promise<void> {
  const reply = await answer(request)
  parentPort?.postMessage(reply, 'result' in reply ? transferable(reply.result) : [])
  if (request.operation === 'close') parentPort?.close()
}

let handled = Promise.resolve()
parentPort?.on('message', (request: ThreadRequest) => {
  handled = handled.then(() => handle(request))
})
