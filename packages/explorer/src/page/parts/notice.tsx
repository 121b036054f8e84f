import { sentenceFor } from '../api/failure.ts'
import { formatAge, shownText } from '../format.ts'

/** Says what went wrong, and how old what is shown is; nothing while all is well. */
export function Notice({
  failure,
  readAtMs,
}: {
  readonly failure: unknown
  readonly readAtMs?: number | undefined
}) {
  return (
    <div class="notices">
      {failure !== undefined && (
        <p class="notice">
          {/* An age is not announced again and again. */}
          <span role="alert">{shownText(sentenceFor(failure), 300)}</span>
          {readAtMs !== undefined && <> The data shown is from {formatAge(performance.now() - readAtMs)}.</>}
        </p>
      )}
    </div>
  )
}
