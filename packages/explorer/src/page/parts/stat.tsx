import type { ComponentChildren } from 'preact'

/** A figure and what it is. */
export function Stat({
  label,
  children,
  hint,
}: {
  readonly label: string
  readonly children: ComponentChildren
  readonly hint?: string
}) {
  return (
    <div class="stat" title={hint}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
