export interface Repository {
  readonly type: 'git'
  readonly url: string
  readonly directory: string
}
export function packedManifest(
  manifest: Readonly<Record<string, unknown>>,
  repository?: Repository,
): Record<string, unknown>
export function repositoryUrl(remote: string): string | undefined
