/** `--check`, as an option of each command: what it would refuse is refused before machines that cost money are there, or programs are installed. */
export const checkOption = {
  check: { type: 'boolean', default: false, describe: 'only check the arguments, and run nothing' },
} as const
