/** One line of the terminal, overwritten each time; nothing where stderr is no terminal. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
