/** Does one thing at a time: clicks meanwhile do nothing. The button keeps the keyboard's focus, which one that is `disabled` would lose. */
export async function whileBusy(
  button: Pick<HTMLButtonElement, 'ariaBusy' | 'ariaDisabled'>,
  work: () => Promise<void>,
): Promise<void> {
  if (button.ariaBusy === 'true') return
  button.ariaBusy = 'true'
  button.ariaDisabled = 'true'
  try {
    await work()
  } finally {
    button.ariaBusy = 'false'
    button.ariaDisabled = 'false'
  }
}
