import { execFileSync } from 'node:child_process'
import type { ProbedWay } from './probe.ts'

/** Two network namespaces joined by the kernel alone, to compare with. Needs root, and `ip`. */
export function openVethPair(): Omit<ProbedWay, 'delayMs'> & { readonly close: () => void } {
  const [a, b] = [`runnel-veth-${process.pid}-a`, `runnel-veth-${process.pid}-b`] as const
  const ip = (options: readonly string[], ...lines: string[]) =>
    execFileSync('ip', [...options, '-batch', '-'], { input: lines.join('\n') })
  const close = () => ip([], `netns del ${a}`, `netns del ${b}`)
  ip([], `netns add ${a}`, `netns add ${b}`)
  try {
    ip([], `link add v0 netns ${a} type veth peer name v0 netns ${b}`)
    ip(['-n', a], 'addr add 10.0.0.1/24 dev v0', 'link set v0 up')
    ip(['-n', b], 'addr add 10.0.0.2/24 dev v0', 'link set v0 up')
  } catch (error) {
    close()
    throw error
  }
  return {
    from: { namespace: `/run/netns/${a}` },
    to: { namespace: `/run/netns/${b}`, address: '10.0.0.2' },
    close,
  }
}
