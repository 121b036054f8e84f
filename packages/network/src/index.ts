export * from './ports.ts'
export * from './limits.ts'
export * from './errors.ts'
export * from './create-network-node.ts'
export type { LightOptions } from './light.ts'
export type { ChainsByMode, LinkModes } from './core/thin/link-modes.ts'
export type { Kept } from './core/stream-part/kept.ts'
export { counterHelp, gaugeHelp, type CounterName } from './core/counters.ts'
export {
  ChainOrder,
  chainOrderLimits,
  type ChainOrderCounters,
  type ChainOrderLimits,
  type ChainOrderModules,
  type Ordered,
} from './core/order/chain-order.ts'
