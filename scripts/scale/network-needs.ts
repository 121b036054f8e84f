import type { assumptions, costs } from './inputs.ts'

type Values<T> = { readonly [Name in keyof T]: number }

/** The value of each input. */
export function valuesOf<T extends Record<string, { readonly value: number }>>(inputs: T): Values<T> {
  return Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value])) as Values<T>
}

export type Network = Values<typeof assumptions>
export type Costs = Values<typeof costs>

const monthS = 30 * 86_400
/** Those of a node in the measurement of idle ones. */
const measuredLinks = 4

/** What the trackers of a network take. */
export function trackerNeeds(network: Network, cost: Costs) {
  const connections = network.nodes * Math.min(network.trackersOfNode, network.streamsPerNode)
  const connectsPerS = connections / network.stayS
  const joinsPerS = (network.nodes * network.streamsPerNode) / network.stayS
  const cores =
    (connections * cost.trackerIdleUsPerS) / 1e6 +
    (connectsPerS * cost.trackerMsPerConnect + joinsPerS * cost.trackerMsPerJoin) / 1e3
  const trackers = Math.ceil(cores / network.trackerLoad)
  const memoryGb = (connections * cost.trackerKbPerNode) / 1e6
  const sentPerS = (connections * network.pongBytes) / network.trackerPingS + joinsPerS * network.joinKb * 1e3
  const sentTb = (sentPerS * monthS) / 1e12
  const euroPerMonth = trackers * network.coreMonth + memoryGb * network.gbMonth + sentTb * network.tbTraffic
  const nodesPerTracker = connections / trackers
  return { connections, joinsPerS, cores, trackers, nodesPerTracker, memoryGb, sentTb, euroPerMonth }
}

/** What the storage nodes take, at so many messages a second in each stream. */
export function storageNeeds(network: Network, cost: Costs, messagesPerS: number) {
  const writesPerS = network.streams * network.storedShare * messagesPerS * network.storageNodes
  const diskTb = (writesPerS * network.storedDays * 86_400 * cost.storedBytes) / 1e12
  const forDisk = diskTb / network.diskTb
  const forWrites = writesPerS / (cost.storedPerS * network.storageLoad)
  const machines = Math.max(network.storageNodes, Math.ceil(Math.max(forDisk, forWrites)))
  // Full floods: what a storage node passes on as a neighbour.
  const sentTb = (writesPerS * cost.copiesSent * network.frameBytes * monthS) / 1e12
  const machineMonth = network.coreMonth + network.storageGb * network.gbMonth
  const euroPerMonth = machines * machineMonth + diskTb * network.tbMonth + sentTb * network.tbTraffic
  return { writesPerS, diskTb, machines, sentTb, euroPerMonth }
}

/** What one node of a user takes. */
export function nodeNeeds(network: Network, cost: Costs, messagesPerS: number) {
  const deliveriesPerS = network.streamsPerNode * messagesPerS
  const linkShare = network.links / measuredLinks
  const idlePercent = cost.idlePercent + cost.idleLinksPercent * (linkShare - 1)
  const idleBytesPerS = cost.idleBytesPerS * linkShare
  const sentPerS = idleBytesPerS + deliveriesPerS * cost.copiesSent * network.frameBytes
  return {
    deliveriesPerS,
    corePercent: idlePercent + (deliveriesPerS * cost.deliveryUs) / 1e4,
    idleKbitPerS: (idleBytesPerS * 8) / 1e3,
    sentKbitPerS: (sentPerS * 8) / 1e3,
    sentGbPerMonth: (sentPerS * monthS) / 1e9,
  }
}
