/** Standard input, ending early and without an error when the signal is aborted. */
export async function* standardInput(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const stop = () => process.stdin.destroy()
  signal.addEventListener('abort', stop)
  try {
    for await (const chunk of process.stdin) yield chunk as Uint8Array
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
