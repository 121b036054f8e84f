import { benchCommand } from './bench-command.ts'
import { count, counted } from './counts.ts'

/** Pages in Chromium. */
export const pageCommands = [
  benchCommand(
    'browser',
    {
      about: 'pages in Chromium: from load to the first live message, and what relaying costs a tab',
      options: {
        loads: count(40),
        rate: count(1_000, 'messages a second that a tab relays'),
        seconds: count(15, 'how long it does'),
      },
      limitS: 300,
    },
    async ({ loads, rate, seconds }) =>
      (await import('../browser/browser-bench.ts')).browserBench({
        loads,
        ratePerS: rate,
        relaySeconds: seconds,
      }),
  ),
  benchCommand(
    'tabs',
    {
      about:
        'tabs of Chromium and nodes in one overlay: tabs open and close at random, what do those that stay lose',
      options: {
        nodes: count(10, 'of Node, all of which stay'),
        tabs: count(10, 'open at a time; half of them stay'),
        rate: count(20, 'messages a second'),
        seconds: count(120),
        seed: { type: 'string' as const, default: 'tabs' },
      },
      limitS: 300,
    },
    async ({ nodes, tabs, rate, seconds, seed }) =>
      (await import('../browser/tabs-bench.ts')).tabsBench({ nodes, tabs, ratePerS: rate, seconds, seed }),
  ),
  benchCommand(
    'playback',
    {
      about:
        'from a click on the time line of a recording to the picture, against reading the same messages without decoding them',
      options: {
        frames: count(4_000, 'of the recording, about 95 a second'),
        clicks: count(60),
        opens: count(20, 'new pages that open it'),
      },
      limitS: 300,
    },
    async ({ frames, clicks, opens, limitS }) =>
      (await import('../playback/playback-bench.ts')).playbackBench({ frames, clicks, opens, limitS }),
  ),
  benchCommand(
    'speakers',
    {
      about: 'how smooth a page of the room example is with more and more speakers, against the page alone',
      options: {
        speakers: {
          type: 'array' as const,
          number: true as const,
          default: [1, 5, 10, 15, 20, 30],
          describe: 'how many, one after the other; ends where the page is not smooth',
          ...counted(),
        },
        seconds: count(10, 'for which each number is watched'),
      },
      limitS: 400,
    },
    async ({ speakers, seconds, limitS }, tell) =>
      (await import('../speakers/speakers-bench.ts')).speakersBench(
        { speakers: speakers.map(Number), seconds, limitS },
        tell,
      ),
  ),
]
