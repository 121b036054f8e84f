import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure, sentenceFor } from '../api/failure.ts'
import type { ActsAs } from './acts-as.ts'
import { attempt } from './attempt.ts'
import { liveSentence } from './live-sentences.ts'
import { Membership, type MembershipState } from './membership.ts'

/** Messages may come faster than anybody can read: the page is redrawn at most this often. */
const redrawEveryMs = 150

export interface Live {
  readonly phase: 'out' | 'joining' | 'in'
  readonly state: MembershipState | undefined
  /** What went wrong, as a sentence. */
  readonly trouble: string | undefined
  /** Whether stored messages are being read, or there were none. */
  readonly stored: 'reading' | 'none' | undefined
  /** What `as` rejects with is said as trouble. */
  join(as: Promise<ActsAs>): void
  leave(): void
  readStored(): void
  /** False when it failed; `trouble` says why. */
  publish(content: unknown): Promise<boolean>
}

/** Whether this page takes part in a stream part, in the network of the tracker at `base`; it leaves when the part is no longer looked at. */
export function useMembership(partId: string, base: string): Live {
  const member = useRef<Membership | undefined>(undefined)
  const [phase, setPhase] = useState<Live['phase']>('out')
  const [state, setState] = useState<MembershipState>()
  const [trouble, setTrouble] = useState<string>()
  const [stored, setStored] = useState<Live['stored']>()
  const leave = () => {
    void member.current?.leave()
    member.current = undefined
    setPhase('out')
    setState(undefined)
    setStored(undefined)
  }
  useEffect(() => leave, [partId])
  const fail = (error: unknown) =>
    setTrouble(error instanceof Failure ? sentenceFor(error) : liveSentence(error))
  const join = (as: Promise<ActsAs>) => {
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
    const joined = as.then((user) => joining.join(base, partId, user))
    joined.then(
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
    const publishing = member.current
    const published = publishing?.publish(partId, content).then(() => true)
    return (await attempt(published, () => member.current === publishing, fail)) === true
  }
  const readStored = async () => {
    setTrouble(undefined)
    setStored('reading')
    const reading = member.current
    const isCurrent = () => member.current === reading
    const found = await attempt(reading?.readStored(partId), isCurrent, fail)
    if (isCurrent()) setStored(found === 0 ? 'none' : undefined)
  }
  return {
    phase,
    state,
    trouble: state?.trouble ?? trouble,
    stored,
    join,
    leave,
    readStored: () => void readStored(),
    publish,
  }
}
