/** What the benchmark of this process is at. A process runs one. */
const current = { name: '', progress: () => '' }

/** Says what begins: where the benchmark takes too long, its error names it. */
export function beginPhase(name: string): void {
  Object.assign(current, { name, progress: () => '' })
}

/** Says how to ask for what has come so far, such as `12 of 60 deliveries`. Asked only where the phase takes too long. */
export function showProgress(progress: () => string): void {
  current.progress = progress
}

/** The phase and how far it is; empty before the first. */
export function currentPhase(): string {
  return [current.name, current.progress()].filter((text) => text !== '').join(': ')
}
