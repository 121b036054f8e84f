/** What one subscriber was given of one publisher, whose messages are numbered from 1. */
export class MemberLedger {
  delivered = 0
  missing = 0
  outOfOrder = 0
  #last = 0

  add(number: number): void {
    this.delivered++
    if (number <= this.#last) {
      this.outOfOrder++
      return
    }
    this.missing += number - this.#last - 1
    this.#last = number
  }

  get last(): number {
    return this.#last
  }
}
