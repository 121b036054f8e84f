type Json = Readonly<Record<string, unknown>>
export function nextVersion(current: string, wanted: string): string
export function withVersion(manifest: Json, version: string): Json
export function lockWithVersion(
  lock: Json & { readonly packages: Readonly<Record<string, Json>> },
  version: string,
): Json & { readonly packages: Readonly<Record<string, Json>> }
export function releasedChangelog(text: string, version: string, date: string): string
