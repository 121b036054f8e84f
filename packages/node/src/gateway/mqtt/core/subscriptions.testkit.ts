import type { SubscriptionOptions } from './session.ts'

/** Options of a subscription of QoS 1 without more. */
export const qos1: SubscriptionOptions = {
  qos: 1,
  noLocal: false,
  retainAsPublished: false,
  retainHandling: 0,
  subscriptionId: undefined,
}
