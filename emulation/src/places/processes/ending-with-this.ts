/** What runs a command that is killed when this process ends, however that ends. */
export function endingWithThis(command: readonly string[]): [program: string, ...rest: string[]] {
  return ['setpriv', '--pdeathsig', 'KILL', '--', ...command]
}
