import type { Propagation } from '../api/answers.ts'
import type { Polled } from '../use-polled.ts'

/** Why there are no predicted delays yet; undefined where there are, or where a failure says it. */
export function whyNoPrediction({
  value,
  failure,
}: Pick<Polled<Propagation>, 'value' | 'failure'>): string | undefined {
  if (value?.delays === null) return 'No prediction until round-trip times are known.'
  return value === undefined && failure === undefined ? 'Asking for a prediction…' : undefined
}
