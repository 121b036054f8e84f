// Plain JavaScript that an old Node can run, too.
import { spawn } from 'node:child_process'

/**
 * Runs a command in the place of this process: its streams, its exit code, and the signals that this process gets.
 * A Ctrl-C in a terminal reaches the command by itself. Where there is no terminal, whoever sent the signal sent it to this process
 * alone, or to its group: then the command gets it twice in one moment, which it takes for once (`stop-signal.ts`).
 */
export function handOver(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', ...options })
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)
  process.on('SIGINT', () => hasTerminal || child.kill('SIGINT'))
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('error', (error) => {
    process.stderr.write(`runnel: ${command}: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => (process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)))
}
