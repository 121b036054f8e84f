/** A table without lines: a terminal is narrow. */
export const plainLayout = {
  chars: {
    ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', left: '', 'left-mid': '', mid: '' },
    ...{ 'mid-mid': '', right: '', 'right-mid': '', middle: '', bottom: '', 'bottom-mid': '' },
    ...{ 'bottom-left': '', 'bottom-right': '' },
  },
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
}
