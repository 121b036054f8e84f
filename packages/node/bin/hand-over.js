// Plain JavaScript that an old Node can run, too.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

/** What asks a process to end. */
export const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** The exit code of a process that a signal ended, as shells count. */
export const exitCodeOf = (signal) => 128 + constants.signals[signal]

/**
 * Starts a command that gets what asks this process to end; a detached one is ended at once, with all that it has started.
 * A Ctrl-C in a terminal reaches the command by itself. Where there is no terminal, whoever sent the signal sent it to this process
 * alone, or to its group: then the command gets it twice in one moment, which it takes for once (`stop-signal.ts`).
 */
export function spawnWithSignals(command, args, options) {
  const child = spawn(command, args, options)
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)
  const pass = (signal) => {
    if (options.detached) killGroup(child)
    else if (signal !== 'SIGINT' || !hasTerminal) child.kill(signal)
  }
  for (const signal of endSignals) process.on(signal, pass)
  child.on('exit', () => endSignals.forEach((signal) => process.off(signal, pass)))
  return child
}

function killGroup({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

/** Runs a command in the place of this process: its streams, its exit code, and the signals that this process gets. */
export function handOver(command, args, options = {}) {
  const child = spawnWithSignals(command, args, { stdio: 'inherit', ...options })
  child.on('error', (error) => {
    process.stderr.write(`runnel: ${command}: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    // One that takes signals says itself why it ends.
    if (signal) process.stderr.write(`runnel: ended by ${signal}; what was not written yet is lost\n`)
    process.exitCode = code ?? exitCodeOf(signal)
  })
}
