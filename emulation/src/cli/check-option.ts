/** `--check`, as an option of a command that may be run on machines that cost money: what it would refuse is refused before they are there. */
export const checkOption = {
  check: { type: 'boolean', default: false, describe: 'only check the arguments, and run nothing' },
} as const
