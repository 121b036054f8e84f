/** What an error at a place of a file says of what came before it. */
export const sentBefore = (count: number): string => (count === 0 ? '' : ', what was before has been sent')
