import type { Cancel } from '@runnel/protocol'
import type { TurnLeg, TurnLegEvents } from './turn-leg.ts'

/** Between a check and its repeats, in milliseconds. The other end's first check mostly comes 30 ms behind, as an answerer waits for so much longer than signals take. */
export const repeatMs = 40
/** Repeats of a check. The agent itself sends it again after 500 ms. */
export const maxRepeats = 5
/** Checks of a port of the agent that are repeated: the other end names what is checked. */
export const maxRepeatedChecks = 8

/** What goes to the other end while the agent has no channel to it, and what comes from there (RFC 8656, section 18.1). */
const sendIndication = 0x0016
const dataIndication = 0x0017

export interface RepeatModules {
  open(events: TurnLegEvents): TurnLeg
  schedule(ms: number, action: () => void): Cancel
}

/**
 * A leg on which the agent's checks are repeated until something comes from the other end. A relay lets nobody in to whom its owner has sent nothing,
 * so of two ends that use relays only, the check of the first is lost at the relay of the second. The agent sends its next one 50 ms after the
 * second's check has come; a repeat that leaves after that was sent comes through at once. It is the same check, as a repeated request of STUN is
 * (RFC 8489, section 6.2.1).
 */
export function repeatingChecks({ open, schedule }: RepeatModules, events: TurnLegEvents): TurnLeg {
  let left = maxRepeatedChecks
  const cancels: Cancel[] = []
  const stop = (): void => {
    left = 0
    for (const cancel of cancels.splice(0)) cancel()
  }
  const leg = open({
    onDatagram(datagram) {
      if (typeOf(datagram) === dataIndication) stop()
      events.onDatagram(datagram)
    },
    onClose() {
      stop()
      events.onClose()
    },
  })
  return {
    send(datagram) {
      leg.send(datagram)
      // Until something has come, there is nothing else to send to the other end.
      if (left === 0 || typeOf(datagram) !== sendIndication) return
      left--
      for (let n = 1; n <= maxRepeats; n++) cancels.push(schedule(n * repeatMs, () => leg.send(datagram)))
    },
    close: () => leg.close(),
  }
}

function typeOf([high = 0, low = 0]: Uint8Array): number {
  return (high << 8) | low
}
