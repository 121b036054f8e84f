import type { StatusHub } from '../status.ts'

/**
 * Has it checked whether the user may still read, whenever the registry changes, and where statuses were missed, of which one may have told of that.
 * Until the signal is aborted, or the client closes.
 */
export async function watchRight(
  status: Pick<StatusHub, 'listen'>,
  check: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const statuses = status.listen()
  signal.addEventListener('abort', () => void statuses.return?.(), { once: true })
  for await (const { type } of statuses) if (type === 'registry' || type === 'statuses-missed') await check()
}
