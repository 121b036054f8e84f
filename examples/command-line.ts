interface About {
  /** One line for the list of examples. */
  readonly summary: string
  /** What else to try in its page. */
  readonly tips?: readonly string[]
}

const about = {
  'publish-subscribe': { summary: 'a page that subscribes to a stream and publishes to it; open it twice' },
  'live-chart': { summary: "live measurements of this machine, published by the network's first node" },
  chat: {
    summary: "a chat room without a server: every page forwards the others' messages",
    tips: ['Add ?room=private to the address for an encrypted room.'],
  },
  dashboard: { summary: 'measurements as tiles, in React' },
  room: {
    summary: 'a meeting room: microphone, camera, screen, chat and recordings',
    tips: [
      'The page makes a secret and puts it behind # in its address: whoever has the whole address can join.',
      'Add ?stream=private for a stream that its permissions encrypt.',
    ],
  },
} as const satisfies Record<string, About>

export type Example = keyof typeof about
export const examples = Object.keys(about) as Example[]

/** What a command line asks for. `refused` has what is wrong with it, and the usage. */
export type Asked = { readonly start: Example } | { readonly help: string } | { readonly refused: string }

/** Takes the name of one example, or `--help` with or without one. */
export function readCommandLine(args: readonly string[]): Asked {
  const example = examples.find((name) => args.includes(name))
  if (args.includes('--help') || args.includes('-h')) return { help: usageOf(example) }
  const other = args.find((arg, i) => arg !== example || args.indexOf(arg) !== i)
  if (other !== undefined) return { refused: `${whatIsWrong(other)}\n\n${usageOf(example)}` }
  return example === undefined ? { refused: `Name an example.\n\n${usageOf()}` } : { start: example }
}

function whatIsWrong(arg: string): string {
  if (arg.startsWith('-')) return `Unknown option ${arg}.`
  return (examples as readonly string[]).includes(arg) ? 'Name one example.' : `There is no example ${arg}.`
}

function usageOf(example?: Example): string {
  const width = Math.max(...examples.map(({ length }) => length))
  const subject =
    example === undefined
      ? ['Examples:', ...examples.map((name) => `  ${name.padEnd(width)}  ${about[name].summary}`)]
      : tellOf(example)
  return [
    `npm run example -- ${example ?? '<example>'}`,
    '',
    'Starts a network on this machine and serves a page that joins it. Ctrl-C ends both.',
    '',
    ...subject,
    '',
    'Options:',
    `  ${'--help'.padEnd(width)}  Show help`,
    '',
  ].join('\n')
}

function tellOf(example: Example): string[] {
  const { summary, tips = [] }: About = about[example]
  return [`${example}: ${summary}`, ...tips]
}
