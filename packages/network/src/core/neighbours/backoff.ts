export { backoffMs } from '@runnel/protocol'
