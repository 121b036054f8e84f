import { untilAborted, type Clock } from '@runnel/protocol'
import { deadline, pause } from '../deadline.ts'
import type { AnswerDesk } from './answer-desk.ts'
import type { KeyPart } from './key-part.ts'

/** When nobody has asked for this long, those present have their keys. */
const quietMs = 1_000
/** Longest wait, even if requests keep coming. */
const maxMs = 3_000

export interface LastRequestsModules {
  readonly clock: Clock
  readonly keyPart: Pick<KeyPart, 'hasCompany' | 'waitForNeighbour'>
  readonly desk: Pick<AnswerDesk, 'requests' | 'settled'>
}

/**
 * Answers those who are there before a process ends whose keys no storage node keeps: a message that it published just now may reach a
 * reader that has to ask for its key. Resolves at once where nobody else is in the stream.
 */
export async function answerLastRequests(modules: LastRequestsModules, signal: AbortSignal): Promise<void> {
  const { clock, keyPart, desk } = modules
  if (!keyPart.hasCompany) return
  const limited = deadline(clock, maxMs, signal)
  try {
    await keyPart.waitForNeighbour(limited.signal)
    let answered: number
    do {
      answered = desk.requests
      await pause(clock, quietMs, limited.signal)
      await untilAborted(desk.settled(), limited.signal)
    } while (answered !== desk.requests && !limited.signal.aborted)
  } catch (error) {
    // Nobody of the stream came to its key part in time.
    if (!limited.signal.aborted) throw error
  } finally {
    limited.end()
  }
}
