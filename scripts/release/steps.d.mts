type Json = Readonly<Record<string, unknown>>
type Lock = Json & { readonly packages: Readonly<Record<string, Json>> }
export function nextVersion(current: string, wanted: string): string
export function withVersion(manifest: Json, version: string): Json
export function lockWithVersion(lock: Lock, version: string): Lock
export function lockWithoutDev(lock: Lock): Lock
export function releasedChangelog(text: string, version: string, date: string): string
