import type { NodeId } from '@runnel/protocol'
import type { Gate } from '../gate.ts'
import type { Logger } from '../logger.ts'
import type { RegistryAdmission } from '../registry/registry-admission.ts'
import type { StatusHub } from '../status.ts'

export interface AdmissionHearers {
  readonly gate: Pick<Gate, 'problem'>
  readonly user: { readonly userId: NodeId }
  readonly logger: Logger
  readonly status: Pick<StatusHub, 'emit'>
}

/** Tells when the client may no longer take part in the network, and when it may again. */
export function hearAdmission(
  admission: Pick<RegistryAdmission, 'onChange'>,
  { gate, user, logger, status }: AdmissionHearers,
): void {
  const { userId } = user
  let { problem } = gate
  const say = () => {
    if (problem === undefined) logger.info({ userId }, 'the private network lists this user')
    else logger.warn({ userId, code: problem.code }, problem.message)
  }
  if (problem !== undefined) say()
  admission.onChange(() => {
    const now = gate.problem
    if (now?.code === problem?.code) return
    problem = now
    say()
    const isListed = problem === undefined
    status.emit({ type: 'admission', isListed, ...(problem && { error: problem }) })
  })
}
