/** Asks a registry; `onResolved` is called once, later, with whether there was an answer. */
export function resolveUser(resolve: () => Promise<void>, onResolved: (found: boolean) => void): void {
  resolve().then(
    () => onResolved(true),
    () => onResolved(false),
  )
}
