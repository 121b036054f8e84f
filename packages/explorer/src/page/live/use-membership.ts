import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure, sentenceFor } from '../api/failure.ts'
import { liveSentence } from './live-sentences.ts'
import { Membership, type MembershipState } from './membership.ts'

/** Messages may come faster than anybody can read: the page is drawn anew at most this often. */
const redrawEveryMs = 150

export interface Live {
  readonly phase: 'out' | 'joining' | 'in'
  readonly state: MembershipState | undefined
  /** What went wrong, as a sentence. */
  readonly trouble: string | undefined
  join(): void
  leave(): void
  /** False when it failed; `trouble` says why. */
  publish(content: unknown): Promise<boolean>
}

/** Whether this page takes part in a stream part, in the network of the tracker at `base`; it leaves when the part is no longer looked at. */
export function useMembership(partId: string, base: string): Live {
  const member = useRef<Membership | undefined>(undefined)
  const [phase, setPhase] = useState<Live['phase']>('out')
  const [state, setState] = useState<MembershipState>()
  const [trouble, setTrouble] = useState<string>()
  const leave = () => {
    void member.current?.leave()
    member.current = undefined
    setPhase('out')
    setState(undefined)
  }
  useEffect(() => leave, [partId])
  const fail = (error: unknown) =>
    setTrouble(error instanceof Failure ? sentenceFor(error) : liveSentence(error))
  const join = () => {
    if (member.current !== undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const joining = new Membership(() => {
      timer ??= setTimeout(() => {
        timer = undefined
        if (member.current === joining) setState(joining.state())
      }, redrawEveryMs)
    })
    member.current = joining
    setPhase('joining')
    setTrouble(undefined)
    joining.join(base, partId).then(
      () => member.current === joining && setPhase('in'),
      (error: unknown) => {
        if (member.current !== joining) return
        fail(error)
        leave()
      },
    )
  }
  const publish = async (content: unknown) => {
    setTrouble(undefined)
    try {
      await member.current?.publish(partId, content)
      return true
    } catch (error) {
      fail(error)
      return false
    }
  }
  return { phase, state, trouble, join, leave, publish }
}
