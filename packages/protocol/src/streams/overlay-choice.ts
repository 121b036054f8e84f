import { limits } from '../limits.ts'
import { metadataField } from './metadata-field.ts'

/** The ways in which a tracker can choose the edges of an overlay; a tracker has a strategy for each. */
export const overlayStrategies = ['random', 'topology-aware', 'tree'] as const

export type OverlayStrategyName = (typeof overlayStrategies)[number]

/** The fewest neighbours a node can be given in an overlay. */
export const minDegree = 2

/** What the owner of a stream wants its overlays to be. What is left out is up to the tracker. */
export interface OverlayChoice {
  readonly strategy?: OverlayStrategyName
  /** Neighbours per node, `minDegree` to 64; a tracker may give fewer. */
  readonly degree?: number
}

export function isOverlayStrategy(value: unknown): value is OverlayStrategyName {
  return overlayStrategies.some((name) => name === value)
}

export function isDegree(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= minDegree && Number(value) <= limits.maxNeighbours
}

/** Says what is wrong with the choice of an overlay, as plain data; undefined when nothing is. */
export function overlayChoiceFault(value: unknown): string | undefined {
  if (isOverlayStrategy(value)) return undefined
  const wanted = `one of ${overlayStrategies.join(', ')}`
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `overlay must be ${wanted}, or an object with strategy and degree`
  const { strategy, degree, ...others } = value as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `overlay.${unknown} is unknown`
  if (strategy !== undefined && !isOverlayStrategy(strategy)) return `overlay.strategy must be ${wanted}`
  if (degree === undefined || isDegree(degree)) return undefined
  return `overlay.degree must be a whole number from ${minDegree} to ${limits.maxNeighbours}`
}

/**
 * What the field `overlay` of a stream's metadata chooses: the name of a strategy, or `{strategy, degree}`. Undefined when the
 * metadata is no JSON object with a valid choice: whoever may edit the stream writes it.
 */
export function overlayChoiceIn(metadata: string): OverlayChoice | undefined {
  const value = metadataField(metadata, 'overlay')
  if (value === undefined || overlayChoiceFault(value) !== undefined) return undefined
  return isOverlayStrategy(value) ? { strategy: value } : (value as OverlayChoice)
}
