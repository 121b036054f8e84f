import type { UserKind } from '../core/plan.ts'

/** Throws BENCH_PACKAGE_MISSING or BENCH_BROWSER_MISSING where this machine lacks what users of a kind need beside Runnel. */
export async function requireKind(kind: UserKind): Promise<void> {
  if (kind === 'mqtt') await (await import('./mqtt-users.ts')).importMqtt()
  if (kind === 'browser') await (await import('./browser-users.ts')).requireBrowser()
}
